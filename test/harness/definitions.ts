import { setTimeout as sleep } from 'node:timers/promises'
import { isNotFound } from '#libs/kube'
import { type KubeObject, type ResourceInfo, resourceToken } from '#libs/kube-model'
import type { Cluster } from './cluster.ts'

export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'
const TEST_GROUP = 'tests.example.com'
const WAIT_MS = 30_000

/**
 * Defines custom resources where the cluster does not have them yet, and waits until they are served. The definitions
 * take any fields.
 */
export async function define(cluster: Cluster, resources: readonly ResourceInfo[]): Promise<void> {
  for (const resource of resources) {
    const name = resourceToken(resource)
    if ((await cluster.find(DEFINITIONS, { name })) === undefined) await cluster.create(definitionOf(resource))
  }
  for (const resource of resources) await untilServed(cluster, resource)
}

/** A definition that takes any fields; with a status of its own, unless `hasStatus` is false. */
export function definitionOf(resource: ResourceInfo, options: { hasStatus?: boolean } = {}): KubeObject {
  const { group, version, plural, kind, namespaced } = resource
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const subresources = options.hasStatus === false ? {} : { subresources: { status: {} } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: resourceToken(resource),
      // Without it, the groups of Kubernetes' own are refused.
      annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/kubernetes/pull/78458' },
    },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, ...subresources, schema: { openAPIV3Schema } }],
    },
  }
}

/** Removes the definitions of the tests' own group, with all objects: what an earlier run has left. */
export async function removeTestDefinitions(cluster: Cluster): Promise<void> {
  const left = (await cluster.list(DEFINITIONS)).filter(({ spec }) => (spec as { group: string }).group === TEST_GROUP)
  for (const { metadata } of left) await cluster.delete(DEFINITIONS, { name: metadata.name ?? '' })
  const patience = { timeoutMs: 90_000 }
  for (const { metadata } of left) await cluster.untilGone(DEFINITIONS, { name: metadata.name ?? '' }, patience)
}

async function untilServed({ client }: Cluster, resource: ResourceInfo): Promise<void> {
  const deadline = Date.now() + WAIT_MS
  for (;;) {
    try {
      await client.listPage(resource, { limit: 1 })
      return
    } catch (error) {
      if (!isNotFound(error) || Date.now() > deadline) throw error
    }
    await sleep(50)
  }
}

/** Resources of the tests' own group by their plural. */
export const testResources = {
  widgets: { group: TEST_GROUP, version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true },
  gadgets: { group: TEST_GROUP, version: 'v1', plural: 'gadgets', kind: 'Gadget', namespaced: true },
  tiers: { group: TEST_GROUP, version: 'v1', plural: 'tiers', kind: 'Tier', namespaced: false },
} as const satisfies Record<string, ResourceInfo>
