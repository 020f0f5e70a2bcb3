import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject, objectsIn, stringMap, textOf } from '../../json.ts'
import { hostLabelKey } from '../../metadata.ts'
import { ANNOTATIONS, OWN_PREFIX } from '../../stamps.ts'
import type { TenantContext } from '../../view.ts'
import { containersOf, projectedSources, specOf } from './fields.ts'

/** Fields whose value on the copy would be the host's, and the annotation of the copy that holds the tenant's. */
const REDIRECTED: Record<string, string> = {
  'metadata.name': ANNOTATIONS.name,
  'metadata.namespace': ANNOTATIONS.namespace,
  'metadata.uid': ANNOTATIONS.uid,
  'metadata.labels': ANNOTATIONS.labels,
  'metadata.annotations': ANNOTATIONS.annotations,
  'spec.serviceAccountName': ANNOTATIONS.serviceAccountName,
}

/** Names an annotation that no copy has: reads as empty, as a key that the tenant's pod lacks does. */
const ABSENT = `metadata.annotations['${OWN_PREFIX}absent']`

/**
 * The path of the copy's field that yields what `path` yields on the tenant's pod. Keys of our own prefix yield
 * nothing: their values on the copy name host objects.
 */
function hostFieldPath(path: string, tenant: TenantContext): string {
  const redirected = Object.hasOwn(REDIRECTED, path) ? REDIRECTED[path] : undefined
  if (redirected !== undefined) return `metadata.annotations['${redirected}']`
  const [, map, key] = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path) ?? []
  if (map === undefined || key === undefined) return path
  if (key.startsWith(OWN_PREFIX)) return ABSENT
  return map === 'labels' ? `metadata.labels['${hostLabelKey(key, tenant)}']` : path
}

/** Points every downward API field of the copy's spec at the tenant's values. Changes `spec`, which is the copy's. */
export function redirectDownwardApi(spec: JsonObject, tenant: TenantContext): void {
  for (const field of fieldRefs(spec)) field.fieldPath = hostFieldPath(textOf(field.fieldPath), tenant)
}

/**
 * The annotations of the copy that hold values for the pod's downward API beyond the stamps: only those that it asks
 * for. Label and annotation files show what the tenant's pod has, and follow its changes.
 */
export function downwardAnnotations(virtual: KubeObject): Record<string, string> {
  const paths = new Set(fieldRefs(specOf(virtual)).map((field) => field.fieldPath))
  const annotations: Record<string, string> = {}
  if (paths.has('metadata.labels')) annotations[ANNOTATIONS.labels] = formatMap(virtual.metadata.labels)
  if (paths.has('metadata.annotations')) annotations[ANNOTATIONS.annotations] = formatMap(virtual.metadata.annotations)
  if (paths.has('spec.serviceAccountName')) {
    annotations[ANNOTATIONS.serviceAccountName] = asName(specOf(virtual).serviceAccountName) ?? 'default'
  }
  return annotations
}

/** The `fieldRef` objects of a pod's spec: of environment variables, downward API volumes and projected ones. */
function fieldRefs(spec: JsonObject): JsonObject[] {
  const variables = containersOf(spec).flatMap((container) =>
    objectsIn(container.env).map((entry) => asObject(asObject(entry.valueFrom)?.fieldRef)),
  )
  const volumes = objectsIn(spec.volumes).map((volume) => asObject(volume.downwardAPI))
  const sources = projectedSources(spec).map((source) => asObject(source.downwardAPI))
  const files = [...volumes, ...sources].flatMap((source) =>
    objectsIn(source?.items).map((item) => asObject(item.fieldRef)),
  )
  return [...variables, ...files].filter(
    (field) => field !== undefined && asName(field.fieldPath) !== undefined,
  ) as JsonObject[]
}

/** As the kubelet writes a map to a file: `key="value"` lines, sorted by key. */
function formatMap(map: unknown): string {
  return Object.entries(stringMap(map))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n')
}
