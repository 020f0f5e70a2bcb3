import type { ApiResource } from '../discovery/resources.ts'
import { toServed } from '../registry/conversion.ts'
import { parseFieldSelector } from '../selectors/field-selector.ts'
import { parseLabelSelector } from '../selectors/label-selector.ts'
import type { StoredObject } from '../storage/stored-object.ts'

/** Whether an object belongs to a list or watch. */
export type Selection = {
  /** Absent: all namespaces. */
  namespace: string | undefined
  /** Absent: everything in the namespace. */
  matches: ((stored: StoredObject) => boolean) | undefined
}

/** The selectors of a request as one predicate. @throws ApiError 400 */
export function selectionOf(
  resource: ApiResource,
  namespace: string | undefined,
  selectors: { labelSelector: string; fieldSelector: string },
): Selection {
  const { labelSelector, fieldSelector } = selectors
  if (labelSelector === '' && fieldSelector === '') return { namespace, matches: undefined }
  const byLabels = parseLabelSelector(labelSelector)
  const byFields = parseFieldSelector(fieldSelector, resource.token, resource.custom?.selectable)
  return {
    namespace,
    matches: ({ object }) => byLabels(object.metadata.labels) && byFields(toServed(resource, object)),
  }
}
