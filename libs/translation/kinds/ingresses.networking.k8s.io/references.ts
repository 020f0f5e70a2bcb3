import type { KubeObject, ObjectRef } from '#libs/kube-model'
import { asName, asObject, objectsIn } from '../../json.ts'
import { annotationReferences } from './annotations.ts'

/** The Secrets and ConfigMaps that an Ingress refers to: certificates, and what annotations name. */
export function ingressReferences(ingress: KubeObject): ObjectRef[] {
  const namespace = ingress.metadata.namespace ?? ''
  const certificates = objectsIn(asObject(ingress.spec)?.tls).flatMap(({ secretName }) => {
    const name = asName(secretName)
    return name === undefined ? [] : [{ resource: 'secrets', namespace, name }]
  })
  return [...certificates, ...annotationReferences(ingress)].filter(({ resource }) => resource !== 'services')
}
