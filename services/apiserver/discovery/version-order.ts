const VERSION = /^v(?<major>\d+)(?:(?<stage>alpha|beta)(?<minor>\d+))?$/
const STAGES = ['alpha', 'beta', undefined]

/** Orders API versions as Kubernetes prefers them: `v2`, `v1`, `v1beta2`, `v1alpha1`, then other names by alphabet. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [VERSION.exec(a)?.groups, VERSION.exec(b)?.groups]
  if (first === undefined || second === undefined) {
    if (first !== second) return first === undefined ? 1 : -1
    return a < b ? -1 : a > b ? 1 : 0
  }
  const byStage = STAGES.indexOf(second['stage']) - STAGES.indexOf(first['stage'])
  const byMajor = Number(second['major']) - Number(first['major'])
  return byStage || byMajor || Number(second['minor'] ?? 0) - Number(first['minor'] ?? 0)
}
