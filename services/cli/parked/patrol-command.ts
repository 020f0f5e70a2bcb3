import { partitionOf } from '#libs/events'
import { systemClock } from '#libs/kernel'
import { HOST_PLACE, type Order, type OrderAnswerOf, giveOrder } from '#libs/runtime'
import { RULES, type Rule } from '#libs/translation'
import { align } from '../output/table.ts'
import { type CommandOptions, type Running, withRunning } from '../tenant/running.ts'
import { askedBy, askedTenant } from './order.ts'

type Report = Pick<OrderAnswerOf<'patrol'>, 'looked' | 'repaired'>
type Compared = Pick<OrderAnswerOf<'verify'>, 'lists' | 'missed' | 'gone'>

/**
 * Has every object looked at, of a tenant or of all, and waits until that is done: the watchers compare lists with what
 * they have published, and then the translators decide about everything again. Exit status 0 when nothing was to be
 * repaired, else 1.
 * @throws ConfigError when there is no such tenant, CausewayError when nobody answers
 */
export async function runPatrol(options: CommandOptions & { tenant: string | undefined }): Promise<number> {
  const { terminal, json, tenant } = options
  return withRunning(options, async (running) => {
    if (tenant !== undefined) await askedTenant(running, tenant)
    const all = Array.from({ length: running.info.partitions }, (_, at) => at)
    const partitions = tenant === undefined ? all : [partitionOf(tenant, running.info.partitions)]
    // The host is watched for all at once.
    const watched = tenant === undefined ? [...partitions, HOST_PLACE] : partitions
    const show = (text: string): void => {
      if (terminal.isTty) terminal.progress(text)
    }
    const compared = sumOf<Compared>(
      await giveAll<'verify'>(running, options, {
        kind: 'verify',
        partitions: watched,
        told: (answers) => show(`${sumOf<Compared>(answers).lists} lists compared`),
      }),
    )
    const report = total(
      await giveAll<'patrol'>(running, options, {
        kind: 'patrol',
        partitions,
        told: (answers) => show(`${total(answers).looked} objects looked at`),
      }),
    )
    if (json) terminal.print(JSON.stringify({ ...(tenant === undefined ? {} : { tenant }), ...report, ...compared }))
    else for (const line of patrolLines({ ...report, ...compared }, tenant)) terminal.print(line)
    return Object.keys(report.repaired).length + compared.missed + compared.gone === 0 ? 0 : 1
  })
}

/** Gives an order for each of these partitions, and waits until all are carried out. */
async function giveAll<K extends 'patrol' | 'verify'>(
  { bus, info }: Running,
  { tenant, signal }: { tenant: string | undefined; signal: AbortSignal },
  of: { kind: K; partitions: readonly number[]; told: (answers: OrderAnswerOf<K>[]) => void },
): Promise<OrderAnswerOf<K>[]> {
  const answers = new Map<number, OrderAnswerOf<K>>()
  const tell = (partition: number, answer: OrderAnswerOf<K>): void => {
    answers.set(partition, answer)
    of.told([...answers.values()])
  }
  const order = { kind: of.kind, ...(tenant === undefined ? {} : { tenant }), ...askedBy(), at: systemClock.now() }
  const given = of.partitions.map(async (partition) => {
    const answer = await giveOrder<K>(bus, {
      partition,
      order: order as Extract<Order, { kind: K }>,
      replicas: info.replicas,
      clock: systemClock,
      signal,
      onProgress: (each) => tell(partition, each),
    })
    tell(partition, answer)
  })
  const failed = (await Promise.allSettled(given)).find((each) => each.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return [...answers.values()]
}

function sumOf<T extends Compared>(answers: readonly T[]): Compared {
  const sum: Compared = { lists: 0, missed: 0, gone: 0 }
  for (const { lists, missed, gone } of answers) {
    sum.lists += lists
    sum.missed += missed
    sum.gone += gone
  }
  return sum
}

function total(reports: readonly Report[]): Report {
  const sum: Report = { looked: 0, repaired: {} }
  for (const { looked, repaired } of reports) {
    sum.looked += looked
    for (const [rule, count] of Object.entries(repaired)) sum.repaired[rule] = (sum.repaired[rule] ?? 0) + count
  }
  return sum
}

/** What a patrol has found, in words. */
export function patrolLines(
  { looked, repaired, lists, missed, gone }: Report & Compared,
  tenant: string | undefined,
): string[] {
  const whose = tenant === undefined ? 'all tenants' : `tenant ${tenant}`
  const rules = Object.entries(repaired).toSorted(([a, of], [b, other]) => other - of || a.localeCompare(b))
  const count = rules.reduce((sum, [, each]) => sum + each, 0)
  const found =
    count === 0 ? 'nothing to repair' : `${count} ${count === 1 ? 'write' : 'writes'} missing, asked for now`
  const because = (rule: string): string => (rule in RULES ? RULES[rule as Rule] : '')
  return [
    `patrol of ${whose}: ${lists} lists compared, ${lost(missed, gone)}; ${looked} objects looked at, ${found}`,
    ...align(rules.map(([rule, each]) => [`  ${each}`, rule, because(rule)])),
  ]
}

function lost(missed: number, gone: number): string {
  if (missed + gone === 0) return 'no watch has lost anything'
  return `${missed} states and ${gone} ends that no watch told of, published now`
}
