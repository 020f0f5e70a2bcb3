import type { ObjectRef } from '#libs/kube-model'
import type { TenantConfig } from '#libs/sync-config'
import type { Decision } from '../decision.ts'
import type { Mirror } from '../kind.ts'
import { type ClassMirrorOptions, decideClass } from '../mirrors/class-mirror.ts'
import { createNamespace } from '../mirrors/mapped-data/mapped-data.ts'
import { originalOf, shownAs } from '../mirrors/mapped-data/mapping.ts'
import type { TenantContext, View } from '../view.ts'
import { CUSTOM_VERSION, hasStatus } from './custom-kind.ts'
import { isEstablished, readDefinition, versionOf } from './definition.ts'
import { DEFINITIONS, customResourceInfo, fromHostResource } from './resource.ts'

/**
 * A custom resource of the host that tenants see where their configuration says so: by name, or by namespace. Copies are
 * read only and go on the word of a tombstone alone. They come once the tenant has the definition.
 */
export function customMirror(resource: string): Mirror {
  const info = customResourceInfo(resource, { namespaced: true })
  const isEnabled = (config: TenantConfig): boolean => fromHostResource(config, resource)?.enabled ?? false
  return {
    resource: info,
    version: CUSTOM_VERSION,
    isEnabled,
    onlyWhileUsed: false,
    virtualWrites: ['create', 'patch', 'patch/status', 'delete'],
    originalOf: (copy, tenant) => originalFor(copy, tenant),
    copiesOf: (original, tenant) => copiesFor(original, tenant),
    decide: (view) => {
      const decisions = decideClass(view, optionsFor(view, { resource: info, version: CUSTOM_VERSION, isEnabled }))
      const creates = decisions.some((decision) => decision.kind === 'write' && decision.write.op === 'create')
      return creates ? (waitForDefinition(view) ?? withNamespace(view, decisions)) : decisions
    },
  }
}

function originalFor(copy: ObjectRef, tenant: TenantContext): ObjectRef | undefined {
  const configured = fromHostResource(tenant.config, copy.resource)
  if (configured === undefined || configured.namespaced !== (copy.namespace !== '')) return undefined
  if (!configured.namespaced) return copy
  const original = originalOf(configured.byName, copy, tenant)
  return original === undefined ? undefined : { ...copy, ...original }
}

function copiesFor(original: ObjectRef, tenant: TenantContext): ObjectRef[] {
  const configured = fromHostResource(tenant.config, original.resource)
  if (configured === undefined || configured.namespaced !== (original.namespace !== '')) return []
  if (!configured.namespaced) return [original]
  const copy = shownAs(configured.byName, original, tenant)
  return copy === undefined ? [] : [{ ...original, ...copy }]
}

function optionsFor(
  view: View,
  base: Pick<ClassMirrorOptions, 'resource' | 'version' | 'isEnabled'>,
): ClassMirrorOptions {
  const { key, tenant, related } = view
  const { resource } = key
  const host = view.host.object
  const selector = fromHostResource(tenant.config, resource)?.selector
  const definition = related.virtual({ resource: DEFINITIONS, namespace: '', name: resource })
  const isSubresource = host === undefined || hasStatus(definition, host)
  return {
    ...base,
    // The API's names for it are in its objects.
    ...(host === undefined ? {} : { names: { apiVersion: host.apiVersion ?? '', kind: host.kind ?? '' } }),
    ...(selector === undefined ? {} : { selector: () => selector }),
    isMapped: originalFor(key, tenant) !== undefined,
    needsTombstone: true,
    status: isSubresource ? true : 'field',
  }
}

/** The namespace that copies appear in is made when it is not there. */
function withNamespace({ key, related }: View, decisions: Decision[]): Decision[] {
  const namespace = { side: 'virtual' as const, resource: 'namespaces', namespace: '', name: key.namespace }
  const isThere = related.virtual(namespace) !== undefined || !related.synced('virtual', 'namespaces')
  if (key.namespace === '' || isThere) return decisions
  return [createNamespace(namespace), ...decisions.map((each) => ({ ...each, needs: [namespace] }))]
}

/** Says what is missing while the tenant's API cannot take a copy. */
function waitForDefinition({ key, host, related }: View): Decision[] | undefined {
  const definition = related.virtual({ resource: DEFINITIONS, namespace: '', name: key.resource })
  const version = host.object === undefined ? '' : versionOf(host.object)
  const isServed = definition !== undefined && isEstablished(definition)
  if (isServed && readDefinition(definition).versions.some(({ name }) => name === version)) return undefined
  const message = `the tenant does not serve "${key.resource}" in version ${version} yet`
  return [{ kind: 'reject', reason: 'CrdMissing', message }]
}
