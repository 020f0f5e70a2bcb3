// Placeholder until the module is there.
import type { KubeObject } from '#libs/kube-model'

export function trackManagedFields(
  next: KubeObject,
  previous: KubeObject | undefined,
  options: { manager: string; operation: 'Update' | 'Apply'; subresource?: string; time: string; apiVersion: string },
): void {
  const { subresource: _, ...entry } = options
  next.metadata.managedFields = previous?.metadata.managedFields ?? [{ ...entry, fieldsType: 'FieldsV1', fieldsV1: {} }]
}
