/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/label-selector/ */
export type LabelSelector = {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}

type Labels = Readonly<Record<string, string>> | undefined

/** Whether a selector of a workload selects nothing because it is missing or empty. */
export function isEmptySelector(selector: LabelSelector | undefined): boolean {
  if (selector === undefined) return true
  return Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0
}

/** Whether labels satisfy every requirement of the selector; an empty one is satisfied by all. */
export function matchesSelector(selector: LabelSelector, labels: Labels): boolean {
  if (!matchesLabels(selector.matchLabels ?? {}, labels)) return false
  return (selector.matchExpressions ?? []).every(({ key, operator, values }) => {
    const value = labels?.[key]
    switch (operator) {
      case 'In':
        return value !== undefined && (values ?? []).includes(value)
      case 'NotIn':
        return value === undefined || !(values ?? []).includes(value)
      case 'Exists':
        return value !== undefined
      case 'DoesNotExist':
        return value === undefined
      default:
        return false
    }
  })
}

/** Whether labels carry every one of the wanted pairs. */
export function matchesLabels(wanted: Readonly<Record<string, string>>, labels: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => labels?.[key] === value)
}
