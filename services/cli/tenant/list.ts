import { align } from '../output/table.ts'
import { openHealth } from './health.ts'
import { type CommandOptions, withRunning } from './running.ts'

/** Shows the tenants with their state. */
export async function listTenants(options: CommandOptions): Promise<number> {
  const { terminal, json } = options
  return withRunning(options, async ({ bus, registry, info }) => {
    const tenants = await registry.list()
    const health = await (await openHealth(bus, info.replicas)).list('tenant.*')
    const healthBy = new Map(health.map(({ key, value }) => [key, value]))
    const rows = tenants.map((tenant) => ({ ...tenant, health: healthBy.get(`tenant.${tenant.name}`) }))
    if (json) {
      terminal.print(JSON.stringify(rows))
      return 0
    }
    if (rows.length === 0) terminal.print('no tenants; add one with "causeway tenant create NAME"')
    else {
      const lines = rows.map((row) => [
        row.name,
        row.health?.state ?? 'unknown',
        row.hostNamespace,
        row.kubeconfig,
        row.health?.message ?? '',
      ])
      const all = [['TENANT', 'STATE', 'HOST NAMESPACE', 'KUBECONFIG', ''], ...lines]
      for (const line of align(all, terminal.isTty ? terminal.width : undefined)) terminal.print(line)
    }
    return 0
  })
}
