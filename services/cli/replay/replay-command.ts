import { createInterface } from 'node:readline/promises'
import { resourceNamed } from '#libs/explain'
import { ConfigError, systemClock } from '#libs/kernel'
import {
  type RecordOptions,
  type Recorded,
  type Unsettled,
  recordFilters,
  recordLog,
  reemit,
  unsettledIntents,
} from '#libs/replay'
import { readTenantContext } from '#libs/runtime'
import type { TenantContext } from '#libs/translation'
import { createVault, loadKeyRing } from '#libs/vault'
import { align } from '../output/table.ts'
import { type CommandOptions, type Running, withRunning } from '../tenant/running.ts'
import { parseSince } from '../trace/parse-since.ts'

export type ReplayFlags = {
  out: string
  asOf?: string
  tenant?: string
  kind?: string
  translate: boolean
  reemit: boolean
  yes: boolean
}

const SHOWN = 20

/**
 * Writes the log into a SQLite file, and on demand what today's translator makes of it, or sends again what nothing
 * came of.
 * @throws ConfigError
 */
export async function replay(options: CommandOptions & ReplayFlags): Promise<number> {
  const { terminal, folder, signal, out, tenant, json } = options
  if (options.reemit && options.asOf !== undefined) {
    throw new ConfigError(['--reemit with --as-of: what became of an intent may be later than that; leave one out'])
  }
  const asOf = options.asOf === undefined ? undefined : parseSince(options.asOf, systemClock.now(), '--as-of')
  const resource = options.kind === undefined ? undefined : resourceOf(options.kind)
  return withRunning(options, async (running) => {
    const contexts = options.translate ? await tenantContexts(running, tenant) : undefined
    const begun = systemClock.now()
    const choice: RecordOptions = {
      bus: running.bus,
      vault: createVault(loadKeyRing(folder.path('keys.json'))),
      path: out,
      asOf,
      tenant,
      resource,
      translateFor: contexts,
      signal,
      onProgress: (messages) => terminal.progress(`${messages} messages`),
    }
    const recorded = await recordLog(choice)
    const seconds = (systemClock.now() - begun) / 1_000
    if (json) terminal.print(JSON.stringify({ path: out, seconds, ...recorded }))
    else for (const line of summary(out, recorded, seconds)) terminal.print(line)
    return options.reemit ? sendAgain(running, { ...options, choice }) : 0
  })
}

/** What is no kind of ours may be a custom resource, named as in a tenant's configuration. */
function resourceOf(kind: string): string {
  const named = resourceNamed(kind)?.token ?? (kind.includes('.') ? kind : undefined)
  if (named === undefined) {
    throw new ConfigError([`--kind ${kind}: is no kind that is known; a custom resource is named <plural>.<group>`])
  }
  return named
}

/** The tenants that today's translator is to be asked about. */
async function tenantContexts(running: Running, only: string | undefined): Promise<Map<string, TenantContext>> {
  const entries = await running.registry.list()
  const contexts = new Map<string, TenantContext>()
  for (const entry of entries) {
    const { context } = readTenantContext(entry)
    if (context !== undefined && (only === undefined || only === entry.name)) contexts.set(entry.name, context)
  }
  if (only !== undefined && !contexts.has(only)) {
    throw new ConfigError([`no tenant "${only}": "causeway tenant list" shows those there are`])
  }
  return contexts
}

function summary(path: string, recorded: Recorded, seconds: number): string[] {
  const { changes, intents, outcomes, unreadable, differences, isCut } = recorded
  const rate = Math.round((changes + intents + outcomes) / Math.max(seconds, 0.001))
  return [
    `${path}: ${changes} changes, ${intents} intents, ${outcomes} outcomes in ${seconds.toFixed(1)} s (${rate} a second)`,
    ...(isCut ? ['The log no longer reaches back to its beginning: of older objects there is the last state.'] : []),
    ...(unreadable > 0 ? [`${unreadable} messages cannot be read: SELECT * FROM unreadable`] : []),
    ...(differences === undefined
      ? []
      : [
          differences === 0
            ? 'Today’s translator decides what was decided then.'
            : `Today’s translator would decide ${differences} writes otherwise: SELECT * FROM translation_differs`,
        ]),
    `Ask it with any SQL tool, such as: sqlite3 ${path} 'SELECT * FROM slowest_syncs LIMIT 10'`,
  ]
}

async function sendAgain(
  running: Running,
  options: CommandOptions & ReplayFlags & { choice: RecordOptions },
): Promise<number> {
  const { terminal, choice, json, yes, signal } = options
  const intents = unsettledIntents(choice.path)
  if (intents.length === 0) {
    terminal.progress('Every target’s last intent was carried out: nothing is to be sent again.')
    return 0
  }
  for (const line of listed(intents)) terminal.progress(line)
  await confirm(intents.length, { yes, isTty: terminal.isTty })
  const filters = recordFilters(choice)
  const sent = await reemit(running.bus, { intents, filters, at: systemClock.now(), signal })
  terminal.print(json ? JSON.stringify({ sent }) : `${sent} intents are sent again; "causeway status" shows the lag`)
  return 0
}

function listed(intents: readonly Unsettled[]): string[] {
  const rows = intents
    .slice(0, SHOWN)
    .map(({ seq, tenant, side, resource, namespace, name, op, result, reason }) => [
      String(seq),
      tenant,
      side,
      `${resource}/${name}`,
      namespace,
      op,
      reason ?? result ?? 'no outcome',
    ])
  const more = intents.length > SHOWN ? [`… and ${intents.length - SHOWN} more`] : []
  return [...align([['SEQ', 'TENANT', 'SIDE', 'OBJECT', 'NAMESPACE', 'OP', 'SO FAR'], ...rows]), ...more]
}

async function confirm(count: number, { yes, isTty }: { yes: boolean; isTty: boolean }): Promise<void> {
  if (yes) return
  if (!isTty) throw new ConfigError([`--reemit sends ${count} intents again: confirm with --yes`])
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`This sends ${count} intents to the writers again. Type "yes" to go on: `)
  terminal.close()
  if (answer.trim() !== 'yes') throw new ConfigError(['not confirmed; nothing was sent'])
}
