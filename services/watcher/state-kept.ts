import type { Bus } from '#libs/bus'
import { MARKER_NAME, STREAMS, subjectFor } from '#libs/events'
import { resourceToken } from '#libs/kube-model'
import type { KindScope } from './kind-scope.ts'

/**
 * Whether STATE still has the markers of a kind's lists. A position says that all before it is in the log; where STATE
 * was emptied since, or made anew, nothing in it says what there is, and only a list can.
 */
export async function isStateKept(bus: Bus, scope: KindScope): Promise<boolean> {
  const resource = resourceToken(scope.resource)
  const markers = scope.owners().map(({ tenant }) => {
    const key = { tenant, side: scope.side, resource, namespace: '', name: MARKER_NAME }
    return subjectFor('change', scope.partitionOf(tenant), key)
  })
  const found = await Promise.all(
    markers.map((subject) => bus.manager.streams.getMessage(STREAMS.state, { last_by_subj: subject })),
  )
  return found.every((message) => message !== null)
}
