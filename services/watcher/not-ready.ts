import type { WatchStatus } from './status-board.ts'

/**
 * What keeps the watcher from being ready, in words. The host must be watched, but for kinds that it does not serve, such
 * as custom resources without their definition. Tenants must have been listed, unless they cannot be reached: that is not
 * our failure.
 */
export function notReady(statuses: readonly WatchStatus[]): string[] {
  return statuses.flatMap(({ tenant, resource, state, message }) => {
    // A host without pods or the like is not one: something else answers.
    const isOptional = state === 'absent' && resource.includes('.')
    if (tenant === '' && state !== 'synced' && !isOptional)
      return [`host ${resource}: ${state}${message === '' ? '' : `, ${message}`}`]
    if (state === 'cluster-changed') return [`tenant ${tenant} ${resource}: ${state}, ${message}`]
    return state === 'listing' ? [`tenant ${tenant} ${resource}: listing`] : []
  })
}
