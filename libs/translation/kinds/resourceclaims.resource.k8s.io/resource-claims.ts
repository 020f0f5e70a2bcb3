import { cloneJson } from '#libs/kernel'
import { type JsonObject, RESOURCES } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asObject, objectsIn, presentFields, textOf } from '../../json.ts'
import type { PairInput } from '../../kind.ts'
import { hostNamespaceFor } from '../../names.ts'
import { contentOf } from '../../owned-fields.ts'
import { virtualRefOf } from '../../stamps.ts'
import { ownedKind } from '../owned-kind.ts'
import { unknownDeviceClass } from './devices.ts'

/** On claims that a controller made of a template, for one pod. */
const OF_TEMPLATE = 'resource.kubernetes.io/pod-claim-name'

/** The tenant's ResourceClaims; what devices the host has given comes back. */
export const resourceClaims = ownedKind({
  resource: RESOURCES['resourceclaims.resource.k8s.io'],
  version: 2,
  isEnabled: (config) => isEnabled(config, 'toHost', 'resourceClaims'),
  // Of the template's copy, the host makes a claim of its own for the pod's copy.
  excluded: ({ metadata }) => metadata.annotations?.[OF_TEMPLATE] !== undefined,
  content: (input) => {
    const fields = cloneJson(contentOf(input.virtual))
    const unknown = unknownDeviceClass(asObject(fields.spec), input)
    return unknown === undefined
      ? { kind: 'content', fields }
      : { kind: 'reject', reason: 'UnknownClass', message: unknown }
  },
  immutable: ['spec.devices'],
  status: statusBack,
})

/** Whom the host has reserved it for is told by the tenant's pods; others are nobody that it knows. */
function statusBack({ virtual, host, tenant, related }: PairInput): JsonObject | undefined {
  const status = asObject(host.status)
  if (status === undefined) return undefined
  const { reservedFor, ...rest } = cloneJson(status)
  const consumers = objectsIn(reservedFor).flatMap((consumer) => {
    const ref = {
      resource: 'pods',
      namespace: hostNamespaceFor(virtual.metadata.namespace ?? '', tenant),
      name: textOf(consumer.name),
    }
    const copy = consumer.resource === 'pods' ? related.host(ref) : undefined
    const owner = copy === undefined ? undefined : virtualRefOf(copy)
    const pod = owner?.tenant === tenant.name ? related.virtual(owner.ref) : undefined
    return pod === undefined
      ? []
      : [{ ...consumer, name: pod.metadata.name ?? '', uid: pod.metadata.uid ?? '' } satisfies JsonObject]
  })
  return presentFields({ ...rest, reservedFor: consumers.length === 0 ? undefined : consumers })
}
