import { cloneJson } from '#libs/kernel'
import { type JsonObject, type KubeObject, RESOURCES } from '#libs/kube-model'
import type { TenantConfig } from '#libs/sync-config'
import { definitionDifference } from '../../custom-resources/definition-difference.ts'
import { servedVersions } from '../../custom-resources/definition.ts'
import { enabledCustomResources, fromHostResource, toHostResource } from '../../custom-resources/resource.ts'
import type { Decision } from '../../decision.ts'
import { asObject } from '../../json.ts'
import type { Mirror } from '../../kind.ts'
import { LABELS } from '../../stamps.ts'
import type { View } from '../../view.ts'
import { type ClassMirrorOptions, decideClass } from '../class-mirror.ts'

const resource = RESOURCES['customresourcedefinitions.apiextensions.k8s.io']
const version = 1
const isEnabled = (config: TenantConfig): boolean => enabledCustomResources(config).length > 0

/**
 * The host's definitions of the custom resources that cross, in either direction. A copy stays whatever becomes of its
 * original: with a definition go all objects of the kind, those that the tenant made among them. A tenant's own is left
 * alone.
 */
export const customResourceDefinitions: Mirror = {
  resource,
  version,
  isEnabled,
  onlyWhileUsed: false,
  virtualWrites: ['create', 'patch'],
  decide: (view) => {
    const wanted = enabledCustomResources(view.tenant.config).find((each) => each.resource === view.key.name)
    if (wanted === undefined) return []
    const options: ClassMirrorOptions = {
      resource,
      version,
      isEnabled,
      fields: (host) => fieldsOf(host, wanted.version),
    }
    const decisions = decideClass(view, options).filter(
      (decision) => decision.kind !== 'write' || decision.write.op !== 'delete',
    )
    return [...decisions, ...difference(view)]
  },
}

/**
 * The definition without conversion, which only the host's webhook could do: of several versions that need one, the
 * tenant has a single one.
 */
function fieldsOf(host: KubeObject, wanted: string | undefined): JsonObject {
  const spec = cloneJson(asObject(host.spec) ?? {})
  const served = servedVersions(host)
  const isConverted = asObject(spec.conversion)?.strategy === 'Webhook'
  const chosen = served.find(({ name }) => name === wanted) ?? served[0]
  if (isConverted && chosen !== undefined) spec.versions = [{ ...cloneJson(chosen), storage: true }]
  return { spec: { ...spec, conversion: { strategy: 'None' } } }
}

/** What keeps objects from crossing whole where the tenant has a definition of its own. */
function difference({ virtual, host, tenant: { config }, key }: View): Decision[] {
  if (virtual.object === undefined || host.object === undefined) return []
  if (virtual.object.metadata.labels?.[LABELS.mirror] === 'true') return []
  const [toHost, fromHost] = [toHostResource(config, key.name), fromHostResource(config, key.name)]
  const told = definitionDifference(virtual.object, host.object, {
    toHost: toHost?.enabled === true,
    fromHost: fromHost?.enabled === true,
    version: (toHost?.enabled === true ? toHost : fromHost)?.version,
  })
  return told === undefined ? [] : [{ kind: 'reject', reason: 'DefinitionDiffers', message: told }]
}
