import type { Bus } from '#libs/bus'
import { MARKER_NAME, STREAMS, subjectFor } from '#libs/events'
import type { Clock } from '#libs/kernel'
import { resourceToken } from '#libs/kube-model'
import type { KindScope } from './kind-scope.ts'
import { whenCopied } from './when-copied.ts'

/**
 * Whether STATE still has the markers of a kind's lists. A position says that all before it is in the log; where STATE
 * was emptied since, or made anew, nothing in it says what there is, and only a list can.
 * @throws CausewayError `StateBehind` when STATE does not get all that is in the log
 */
export async function isStateKept(options: {
  bus: Bus
  scope: Pick<KindScope, 'side' | 'resource' | 'owners' | 'partitionOf'>
  clock: Clock
  signal: AbortSignal
}): Promise<boolean> {
  const { bus, scope } = options
  const resource = resourceToken(scope.resource)
  const markers = scope.owners().map(({ tenant }) => {
    const key = { tenant, side: scope.side, resource, namespace: '', name: MARKER_NAME }
    return subjectFor('change', scope.partitionOf(tenant), key)
  })
  const { isComplete } = await whenCopied(options, async () => {
    const found = await Promise.all(
      markers.map((subject) => bus.manager.streams.getMessage(STREAMS.state, { last_by_subj: subject })),
    )
    return { isComplete: found.every((message) => message !== null) }
  })
  return isComplete
}
