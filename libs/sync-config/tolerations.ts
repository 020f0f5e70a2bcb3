/** A toleration of a pod. */
export type Toleration = { key?: string; operator: 'Equal' | 'Exists'; value?: string; effect?: string }

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/**
 * Reads a toleration as `sync.toHost.pods.enforceTolerations` has it: `key=value:Effect`, `key:Effect`, `key=value`,
 * `key`, or `*` for all taints.
 * @returns the problem, as a string, when it is none of these
 */
export function parseToleration(text: string): Toleration | string {
  if (text === '*') return { operator: 'Exists' }
  const match = /^([^=:\s]+)(?:=([^=:\s]*))?(?::([A-Za-z]+))?$/.exec(text)
  if (match === null) return `"${text}" must be key=value:Effect, key:Effect, key=value, key, or *`
  const [, key = '', value, effect] = match
  if (effect !== undefined && !EFFECTS.includes(effect))
    return `"${effect}" is no effect; it must be ${EFFECTS.join(', ')}`
  return {
    key,
    ...(value === undefined ? { operator: 'Exists' } : { operator: 'Equal', value }),
    ...(effect === undefined ? {} : { effect }),
  }
}
