import { cloneJson } from '#libs/kernel'
import type { Json, JsonObject, KubeObject } from '#libs/kube-model'
import { asObject } from '../../json.ts'
import type { ToHost, TranslateInput } from '../../kind.ts'
import { hostLabelKey, hostMetadata, metadataBase, refOf } from '../../metadata.ts'
import { LABELS } from '../../stamps.ts'
import { plainTag, tagsOf } from '../../three-way.ts'
import type { TenantContext } from '../../view.ts'
import { ADDRESS_FIELDS, wishedAddress } from './address.ts'
import { chosenNodePorts, specOf, withNodePorts } from './ports.ts'

/** Fields of a Service's spec that the host's API fills in and the tenant sees, never the other way. */
const HOST_FIELDS = [...ADDRESS_FIELDS, 'healthCheckNodePort'] as const

/** The host copy of a Service: its address is the host's to give, unless the tenant asks for a certain one. */
export function serviceToHost({ virtual, tenant }: TranslateInput): ToHost {
  const chosen = chosenNodePorts(virtual, tenant)
  const owned = ownedFields(virtual, tenant)
  const spec = cloneJson(owned)
  if (spec.ports !== undefined) spec.ports = withNodePorts(spec.ports, chosen)
  Object.assign(spec, wishedAddress(virtual))
  return {
    kind: 'object',
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: hostMetadata(refOf(virtual, 'services'), virtual, { tenant }),
      spec,
    },
    base: { ...metadataBase(virtual), spec: fieldTags(owned), nodePorts: tagsOf(chosen) },
  }
}

/**
 * The fields of the copy's spec that the tenant decides, as they are to be on the host; node ports apart. Fields that
 * we do not know are the tenant's too.
 */
export function ownedFields(virtual: KubeObject, tenant: TenantContext): JsonObject {
  const entries = Object.entries(specOf(virtual)).filter(
    ([field]) => !(HOST_FIELDS as readonly string[]).includes(field),
  )
  const owned: JsonObject = Object.fromEntries(entries)
  if (owned.ports !== undefined) owned.ports = withNodePorts(owned.ports, {})
  const selector = hostSelector(virtual, tenant)
  if (selector === undefined) delete owned.selector
  else owned.selector = selector
  return owned
}

/** How a base keeps the tenant's fields: by tag. */
export function fieldTags(owned: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(owned).map(([field, value]) => [field, plainTag(JSON.stringify(value))]))
}

/** Selects the tenant's pods of the Service's namespace. A Service without selector has none on the host either. */
function hostSelector(virtual: KubeObject, tenant: TenantContext): JsonObject | undefined {
  const selector = Object.entries(asObject(specOf(virtual).selector) ?? {})
  if (selector.length === 0) return undefined
  const renamed: [string, Json][] = selector.map(([key, value]) => [hostLabelKey(key, tenant), value])
  return {
    ...Object.fromEntries(renamed),
    [LABELS.namespace]: virtual.metadata.namespace ?? '',
    [LABELS.tenant]: tenant.name,
  }
}
