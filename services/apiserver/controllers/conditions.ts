/** One entry of `status.conditions`. */
export type Condition = {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason?: string
  message?: string
  lastTransitionTime?: string
  lastUpdateTime?: string
  lastProbeTime?: string
}

/** The condition of a type. */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type)
}

/**
 * The conditions with one set. The transition time moves when the status changes; nothing changes when status and
 * reason stay as they were.
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  condition: Condition,
  now: string,
): Condition[] {
  const others = (conditions ?? []).filter(({ type }) => type !== condition.type)
  const current = findCondition(conditions, condition.type)
  if (current !== undefined && current.status === condition.status && current.reason === condition.reason) {
    return [...(conditions ?? [])]
  }
  const lastTransitionTime = current?.status === condition.status ? (current.lastTransitionTime ?? now) : now
  return [...others, { ...condition, lastTransitionTime }]
}
