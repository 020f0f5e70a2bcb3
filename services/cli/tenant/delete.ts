import { createInterface } from 'node:readline/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { STREAMS, partitionOf, tenantFilter } from '#libs/events'
import { ConfigError, CausewayError, systemClock } from '#libs/kernel'
import { type KubeClient, isNotFound } from '#libs/kube'
import { type KubeObject, RESOURCES, type ResourceInfo } from '#libs/kube-model'
import { type TenantEntry, forgetRegistration } from '#libs/runtime'
import { customResources, defaultTenantConfig, parseTenantConfig } from '#libs/sync-config'
import {
  DECIDE_ORDER,
  LABELS,
  type TenantContext,
  customResourceInfo,
  hasOwnNamespaces,
  hostNamespaceFor,
  isCopyOf,
  isMirrored,
  virtualRefOf,
} from '#libs/translation'
import { MANAGED_LABEL, TENANT_ANNOTATION } from '../up/register.ts'
import { openHealth } from './health.ts'
import { type CommandOptions, type Running, changeCluster, withRunning } from './running.ts'

const GONE_TIMEOUT_MS = 120_000
const POLL_MS = 200

/**
 * Removes a tenant: it is no longer followed, its copies on the host are deleted (and its host namespaces, if we made
 * them), its records leave the log, and an embedded cluster goes with all it holds. A cluster of the user's own is left as
 * it is.
 * @throws ConfigError when there is no such tenant or nobody confirms
 */
export async function deleteTenant(options: CommandOptions & { name: string; yes: boolean }): Promise<number> {
  const { name, terminal, json, folder, signal } = options
  return withRunning(options, async (running) => {
    const tenant = await running.registry.get(name)
    if (tenant === undefined)
      throw new ConfigError([`no tenant "${name}": "causeway tenant list" shows those there are`])
    const embedded = tenant.kubeconfig === folder.kubeconfig(name)
    if (!options.yes) await confirm(tenant, embedded, terminal.isTty)
    // First it is not followed any more: what goes on the host now must not look like the host's doing.
    await running.registry.remove(name)
    await deleteCopies(running.host, tenant, signal)
    await forget(running, tenant)
    if (embedded) await changeCluster(running, folder, { method: 'DELETE', name })
    terminal.print(json ? JSON.stringify({ name, deleted: true }) : `tenant ${name} is gone`)
    return 0
  })
}

async function confirm(tenant: TenantEntry, embedded: boolean, isTty: boolean): Promise<void> {
  const what = embedded
    ? 'its cluster with all objects, and its pods on the host'
    : 'its objects on the host (its own cluster stays)'
  if (!isTty) throw new ConfigError([`deleting tenant "${tenant.name}" deletes ${what}: confirm with --yes`])
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`This deletes tenant "${tenant.name}": ${what}. Type its name to go on: `)
  terminal.close()
  if (answer.trim() !== tenant.name) throw new ConfigError(['not confirmed; nothing was deleted'])
}

/** Deletes the tenant's copies by their uid, and waits until they are gone. */
async function deleteCopies(host: KubeClient, tenant: TenantEntry, signal: AbortSignal): Promise<void> {
  const labelSelector = `${LABELS.tenant}=${tenant.name}`
  const config = parseTenantConfig(tenant.config).config ?? defaultTenantConfig()
  const place = { name: tenant.name, hostNamespace: tenant.hostNamespace, config }
  const isSpread = hasOwnNamespaces(place)
  const scope = isSpread ? {} : { namespace: tenant.hostNamespace }
  // Others may have set our label on what is elsewhere.
  const isInside = ({ metadata }: KubeObject): boolean =>
    !isSpread ||
    (metadata.namespace ?? '') === '' ||
    metadata.namespace === hostNamespaceFor(metadata.labels?.[LABELS.namespace] ?? '', place)
  const resources: ResourceInfo[] = [
    ...DECIDE_ORDER.filter((token) => token !== 'namespaces' && !isMirrored(token)).map(
      (token) => RESOURCES[token as keyof typeof RESOURCES],
    ),
    ...customResources(config).toHost.map(({ resource, ...how }) => customResourceInfo(resource, how)),
  ]
  const deadline = systemClock.now() + GONE_TIMEOUT_MS
  for (;;) {
    const copies = await Promise.all(
      resources.map(async (resource) => ({
        resource,
        // A kind that the host does not serve has no copies there.
        items: (
          (await host.listPage(resource, { ...scope, labelSelector, limit: 0 }).catch(ignoreNotFound))?.items ?? []
        ).filter(isInside),
      })),
    )
    const left = copies.flatMap(({ resource, items }) => items.map((item) => ({ resource, item })))
    if (left.length === 0) break
    if (systemClock.now() > deadline) {
      const names = left.slice(0, 5).map(({ resource, item }) => `${resource.plural}/${item.metadata.name}`)
      throw new CausewayError(`still on the host: ${names.join(', ')}; run the command again once they can go`, {
        code: 'TimedOut',
      })
    }
    for (const { resource, item } of left) {
      if (item.metadata.deletionTimestamp !== undefined) continue
      await host.delete(resource, placeOf(item), { uid: item.metadata.uid ?? '' }).catch(ignoreNotFound)
    }
    await sleep(POLL_MS, undefined, { signal })
  }
  if (isSpread) await deleteNamespaces(host, { ...place, labelSelector })
  const namespace = tenant.hostNamespace
  const found = await host.get(RESOURCES.namespaces, { name: namespace }).catch(ignoreNotFound)
  const { labels, annotations } = found?.metadata ?? {}
  if (found === undefined || labels?.[MANAGED_LABEL] !== 'true' || annotations?.[TENANT_ANNOTATION] !== tenant.name)
    return
  await host.delete(RESOURCES.namespaces, { name: namespace }, { uid: found.metadata.uid ?? '' }).catch(ignoreNotFound)
}

function placeOf({ metadata }: KubeObject): { namespace?: string; name: string } {
  const { namespace, name = '' } = metadata
  return { name, ...(namespace === undefined ? {} : { namespace }) }
}

/** Deletes the host namespaces that stand for the tenant's. What others have put there goes with them. */
async function deleteNamespaces(host: KubeClient, tenant: TenantContext & { labelSelector: string }): Promise<void> {
  const { items } = await host.listPage(RESOURCES.namespaces, { labelSelector: tenant.labelSelector, limit: 0 })
  for (const item of items) {
    const owner = virtualRefOf(item)
    if (owner === undefined || !isCopyOf(item, tenant, owner.ref)) continue
    await host.delete(RESOURCES.namespaces, placeOf(item), { uid: item.metadata.uid ?? '' }).catch(ignoreNotFound)
  }
}

function ignoreNotFound(error: unknown): undefined {
  if (isNotFound(error)) return undefined
  throw error
}

/** Takes the tenant's records out of the log, and what services have kept of it out of their buckets. */
async function forget(running: Running, { name, uid }: TenantEntry): Promise<void> {
  const { bus, info } = running
  const partition = partitionOf(name, info.partitions)
  for (const type of ['change', 'intent', 'outcome'] as const) {
    const filter = tenantFilter(type, partition, name)
    const streams = { change: STREAMS.changes, intent: STREAMS.intents, outcome: STREAMS.outcomes }
    await bus.manager.streams.purge(streams[type], { filter })
    if (type !== 'intent') await bus.manager.streams.purge(STREAMS.state, { filter })
  }
  const health = await openHealth(bus, info.replicas)
  await health.delete(`tenant.${name}`)
  await forgetRegistration(bus, { name, uid, replicas: info.replicas })
}
