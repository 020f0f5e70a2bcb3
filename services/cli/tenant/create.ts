import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { ConfigError, errorMessage, systemClock } from '#libs/kernel'
import { loadClusterConfig } from '#libs/kube'
import { readTenantConfig } from '../config/read-config.ts'
import { defaultHostNamespace, planUp, sharedNamespaces } from '../up/plan.ts'
import { requireOwnClusters } from '../up/own-cluster.ts'
import { ensureHostNamespace } from '../up/register.ts'
import { firstWord, servedLine } from './first-word.ts'
import { openHealth } from './health.ts'
import { type CommandOptions, changeCluster, withRunning } from './running.ts'

/** How long a watcher may take to say how it found the tenant's API. */
const FIRST_WORD_MS = 15_000

/**
 * Adds a tenant: an embedded cluster of its own, or the one that a kubeconfig names.
 * Waits until a watcher has said how it found the tenant's API, so that it is called served only when it is.
 * @throws ConfigError when the name is invalid or taken, the kubeconfig is not there, or something is wrong with the configuration
 */
export async function createTenant(
  options: CommandOptions & { name: string; kubeconfig?: string; namespace?: string; config?: string },
): Promise<number> {
  const { name, folder, terminal, json } = options
  // The same checks as for `up`, with the same words.
  const namespace = options.namespace ?? defaultHostNamespace(name)
  planUp({ tenants: [`${name},namespace=${namespace}`] })
  if (options.kubeconfig !== undefined && !existsSync(options.kubeconfig)) {
    throw new ConfigError([`--kubeconfig ${options.kubeconfig}: no such file`])
  }
  if (options.kubeconfig !== undefined) await requireUsable(options.kubeconfig)
  const given = options.config === undefined ? undefined : readTenantConfig(options.config)
  for (const notice of given?.notices ?? []) terminal.progress(notice)
  return withRunning(options, async (running) => {
    if ((await running.registry.get(name)) !== undefined) {
      throw new ConfigError([`tenant "${name}" exists already: "causeway tenant list" shows it`])
    }
    const problems = sharedNamespaces([...(await running.registry.list()), { name, hostNamespace: namespace }])
    if (problems.length > 0) throw new ConfigError(problems)
    if (options.kubeconfig !== undefined) {
      const { hostKubeconfig } = running.info
      const tenants = [...(await running.registry.list()), { name, kubeconfig: resolve(options.kubeconfig) }]
      await requireOwnClusters({ hostKubeconfig, tenants })
    }
    if (options.kubeconfig === undefined) {
      await changeCluster(running, folder, { method: 'PUT', name, body: { serviceClusterIP: 'open' } })
    }
    await ensureHostNamespace(running.host, namespace, name)
    const kubeconfig = resolve(options.kubeconfig ?? folder.kubeconfig(name))
    const health = await openHealth(running.bus, running.info.replicas)
    const after = (await health.get(`tenant.${name}`))?.revision ?? 0
    await running.registry.put({
      name,
      uid: randomUUID(),
      hostNamespace: namespace,
      kubeconfig,
      ...(given === undefined ? {} : { config: given.config }),
    })
    const said = await firstWord(health, name, { after, signal: options.signal, timeoutMs: FIRST_WORD_MS })
    const state = said?.state ?? 'unknown'
    if (json) terminal.print(JSON.stringify({ name, hostNamespace: namespace, kubeconfig, state }))
    else {
      const path = relative(process.cwd(), kubeconfig)
      terminal.print(servedLine(name, namespace, said))
      if (state !== 'synced') terminal.print('  npm run causeway -- tenant list     shows when it is')
      terminal.print(`  kubectl --kubeconfig ${path} get namespaces`)
      terminal.print(`  npm run causeway -- tenant connect ${name}`)
    }
    return 0
  })
}

async function requireUsable(kubeconfig: string): Promise<void> {
  try {
    const config = await loadClusterConfig({ path: kubeconfig, env: process.env, clock: systemClock })
    await config.access()
  } catch (error) {
    throw new ConfigError([`--kubeconfig: ${errorMessage(error)}`], { cause: error })
  }
}
