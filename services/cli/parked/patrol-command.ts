import { partitionOf } from '#libs/events'
import { systemClock } from '#libs/kernel'
import { type OrderAnswerOf, giveOrder } from '#libs/runtime'
import { RULES, type Rule } from '#libs/translation'
import { align } from '../output/table.ts'
import { type CommandOptions, withRunning } from '../tenant/running.ts'
import { askedBy, askedTenant } from './order.ts'

type Report = Pick<OrderAnswerOf<'patrol'>, 'looked' | 'repaired'>

/**
 * Has every object decided about again, of a tenant or of all, and waits until that is done. Exit status 0 when nothing
 * was to be repaired, else 1.
 * @throws ConfigError when there is no such tenant, CausewayError when a translator does not answer
 */
export async function runPatrol(options: CommandOptions & { tenant: string | undefined }): Promise<number> {
  const { terminal, json, signal, tenant } = options
  return withRunning(options, async (running) => {
    const { bus, info } = running
    if (tenant !== undefined) await askedTenant(running, tenant)
    const partitions =
      tenant === undefined
        ? Array.from({ length: info.partitions }, (_, at) => at)
        : [partitionOf(tenant, info.partitions)]
    const reports = new Map<number, Report>()
    const given = partitions.map(async (partition) => {
      const told = (answer: OrderAnswerOf<'patrol'>): void => {
        reports.set(partition, answer)
        if (terminal.isTty && !answer.isDone) terminal.progress(`${total(reports).looked} objects looked at`)
      }
      const order = {
        kind: 'patrol',
        ...(tenant === undefined ? {} : { tenant }),
        ...askedBy(),
        at: systemClock.now(),
      } as const
      told(
        await giveOrder<'patrol'>(bus, {
          partition,
          order,
          replicas: info.replicas,
          clock: systemClock,
          signal,
          onProgress: told,
        }),
      )
    })
    const failed = (await Promise.allSettled(given)).find((each) => each.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    const report = total(reports)
    if (json) terminal.print(JSON.stringify({ ...(tenant === undefined ? {} : { tenant }), ...report }))
    else for (const line of patrolLines(report, tenant)) terminal.print(line)
    return Object.keys(report.repaired).length === 0 ? 0 : 1
  })
}

function total(reports: ReadonlyMap<number, Report>): Report {
  const sum: Report = { looked: 0, repaired: {} }
  for (const { looked, repaired } of reports.values()) {
    sum.looked += looked
    for (const [rule, count] of Object.entries(repaired)) sum.repaired[rule] = (sum.repaired[rule] ?? 0) + count
  }
  return sum
}

/** What a patrol has found, in words. */
export function patrolLines({ looked, repaired }: Report, tenant: string | undefined): string[] {
  const whose = tenant === undefined ? 'all tenants' : `tenant ${tenant}`
  const rules = Object.entries(repaired).toSorted(([a, of], [b, other]) => other - of || a.localeCompare(b))
  const count = rules.reduce((sum, [, each]) => sum + each, 0)
  const found =
    count === 0 ? 'nothing to repair' : `${count} ${count === 1 ? 'write' : 'writes'} missing, asked for now`
  const because = (rule: string): string => (rule in RULES ? RULES[rule as Rule] : '')
  return [
    `patrol of ${whose}: ${looked} objects looked at, ${found}`,
    ...align(rules.map(([rule, each]) => [`  ${each}`, rule, because(rule)])),
  ]
}
