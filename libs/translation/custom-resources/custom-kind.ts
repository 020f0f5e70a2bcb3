import { cloneJson } from '#libs/kernel'
import type { KubeObject, ObjectRef } from '#libs/kube-model'
import { withGenerations } from '../generation.ts'
import { asObject } from '../json.ts'
import type { Kind, PairInput, PairWrite, TranslateInput } from '../kind.ts'
import { type Content, ownedKind } from '../kinds/owned-kind.ts'
import { contentOf } from '../owned-fields.ts'
import { isEstablished, readDefinition, versionOf } from './definition.ts'
import { DEFINITIONS, customResourceInfo, toHostResource } from './resource.ts'

/** Raised with every change of what is decided about custom resources. */
export const CUSTOM_VERSION = 1

/**
 * A custom resource that crosses to the host where the tenant's configuration says so. Its definition is the host's: it
 * must be there, and nothing of a tenant makes or changes it.
 */
export function customKind(resource: string): Kind {
  const kind = ownedKind({
    resource: customResourceInfo(resource, { namespaced: true }),
    version: CUSTOM_VERSION,
    isEnabled: (config) => toHostResource(config, resource)?.enabled ?? false,
    // Until the host's definitions are known, one that is not there may only not have been seen yet.
    excluded: (_virtual, related) =>
      related.host(definitionOf(resource)) === undefined && !related.synced('host', DEFINITIONS) ? 'unknown' : false,
    content: (input) => contentFor(input, resource),
    status: statusBack,
  })
  return {
    ...kind,
    virtualWrites: ['patch', 'patch/status'],
    toHost: (input) => {
      const made = kind.toHost(input)
      if (made.kind !== 'object') return made
      const { apiVersion = '', kind: name = '' } = input.virtual
      return { ...made, object: { ...made.object, apiVersion, kind: name } }
    },
    reconcile: (input) =>
      versionProblem(input) === undefined
        ? kind.reconcile(input).map((write) => withStatusWhereItIs(write, input, resource))
        : [],
    disagreement: (input) => {
      const message = versionProblem(input)
      return message === undefined ? kind.disagreement?.(input) : { reason: 'Unsupported', message }
    },
  }
}

function definitionOf(resource: string): ObjectRef {
  return { resource: DEFINITIONS, namespace: '', name: resource }
}

function contentFor({ virtual, tenant, related }: TranslateInput, resource: string): Content {
  const definition = related.host(definitionOf(resource))
  if (definition === undefined || !isEstablished(definition)) {
    return missing(`the host has no CustomResourceDefinition "${resource}"`)
  }
  const { namespaced, versions } = readDefinition(definition)
  const isNamespaced = virtual.metadata.namespace !== undefined
  const isConfigured = toHostResource(tenant.config, resource)?.namespaced === namespaced
  if (isNamespaced !== namespaced || !isConfigured) {
    const scope = namespaced ? 'Namespaced' : 'Cluster'
    return {
      kind: 'reject',
      reason: 'Unsupported',
      message: `"${resource}" has the scope ${scope} on the host; this cluster or its configuration has another`,
    }
  }
  if (!versions.some(({ name }) => name === versionOf(virtual))) {
    return missing(`the host does not serve "${resource}" in version ${versionOf(virtual)}`)
  }
  return { kind: 'content', fields: cloneJson(contentOf(virtual)) }
}

function missing(message: string): Content {
  return { kind: 'reject', reason: 'CrdMissing', message }
}

/** Fields of two versions cannot be compared. */
function versionProblem({ virtual, host }: PairInput): string | undefined {
  if (versionOf(virtual) === versionOf(host)) return undefined
  return `this cluster prefers version ${versionOf(virtual)}, the host ${versionOf(host)}: the configuration must say which`
}

/** The host's status, with the tenant's generations. While the host says nothing, the tenant's is left. */
function statusBack(input: PairInput) {
  const status = asObject(input.host.status)
  return status === undefined ? undefined : asObject(withGenerations(cloneJson(status), input))
}

/** Where the tenant's definition has no status of its own, it is a field like any other. */
function withStatusWhereItIs(write: PairWrite, { virtual, related }: PairInput, resource: string): PairWrite {
  if (write.write.op !== 'patch' || write.write.subresource !== 'status') return write
  if (hasStatus(related.virtual(definitionOf(resource)), virtual)) return write
  const { subresource: _subresource, ...patch } = write.write
  return { ...write, write: patch }
}

/** Whether objects of this version have their status as a subresource, as far as their definition is known. */
export function hasStatus(definition: KubeObject | undefined, object: KubeObject): boolean {
  if (definition === undefined) return true
  return readDefinition(definition).versions.find(({ name }) => name === versionOf(object))?.hasStatus ?? true
}
