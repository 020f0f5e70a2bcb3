import type { NameReference, Pod, Volume } from './pod.ts'

/** What a pod needs in its namespace before its containers can start. */
export type PodReference = { resource: 'configmaps' | 'secrets'; name: string }

/** ConfigMaps and Secrets that the pod mounts or reads and that are not optional, each once. */
export function requiredReferences(pod: Pod): PodReference[] {
  const references = new Map<string, PodReference>()
  const add = (resource: PodReference['resource'], reference: NameReference | undefined): void => {
    if (reference?.name && reference.optional !== true) {
      references.set(`${resource}/${reference.name}`, { resource, name: reference.name })
    }
  }
  for (const volume of pod.spec?.volumes ?? []) addVolume(volume, add)
  for (const container of [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]) {
    for (const source of container.envFrom ?? []) {
      add('configmaps', source.configMapRef)
      add('secrets', source.secretRef)
    }
    for (const { valueFrom } of container.env ?? []) {
      add('configmaps', valueFrom?.configMapKeyRef)
      add('secrets', valueFrom?.secretKeyRef)
    }
  }
  return [...references.values()]
}

function addVolume(
  volume: Volume,
  add: (resource: PodReference['resource'], reference: NameReference | undefined) => void,
): void {
  add('configmaps', volume.configMap)
  const { secretName, optional } = volume.secret ?? {}
  if (secretName !== undefined) add('secrets', { name: secretName, optional: optional ?? false })
  for (const source of volume.projected?.sources ?? []) {
    add('configmaps', source.configMap)
    add('secrets', source.secret)
  }
}
