import { type Bus, originOf, readLast } from '#libs/bus'
import { type LogMessage, type RecordType, STREAMS, type StreamName, parseSubject, recordFilter } from '#libs/events'
import { errorMessage } from '#libs/kernel'
import type { TenantContext } from '#libs/translation'
import type { Vault } from '#libs/vault'
import { readThere } from './finite.ts'
import { ReplayFile, type Table } from './replay-file.ts'
import { type Row, changeRow, intentRow, outcomeRow } from './rows.ts'
import { translateLog } from './translate-log.ts'

export type RecordOptions = {
  bus: Bus
  /** Opens Secrets for their fingerprints; without it, the length of what is sealed stands for them. */
  vault?: Vault | undefined
  /** File to write; it must not be there. */
  path: string
  /** What came later is left out, ms since the epoch. @default everything */
  asOf?: number | undefined
  /** Records of this tenant, and changes that concern all. @default every tenant */
  tenant?: string | undefined
  /** Records of this resource, such as `pods`. @default all */
  resource?: string | undefined
  /**
   * The tenants as they are configured today, to see what today's translator makes of the recorded changes; needs the
   * vault. @default that is not done
   */
  translateFor?: ReadonlyMap<string, TenantContext> | undefined
  signal: AbortSignal
  /** Told now and then how many messages have been read. */
  onProgress?: (messages: number) => void
}

/** What was written. */
export type Recorded = {
  changes: number
  intents: number
  outcomes: number
  unreadable: number
  /** Whether the log no longer reaches back to its beginning. */
  isCut: boolean
  /** How many writes today's translator would decide otherwise, where it was asked. */
  differences?: number
}

/**
 * Writes the log as it is now into a SQLite file: a row for each message. Objects whose history the log no longer holds
 * come with their last state. Memory does not grow with the log.
 * @throws ConfigError when the file cannot be made; BusError when the log cannot be read
 */
export async function recordLog(options: RecordOptions): Promise<Recorded> {
  const { bus, path, tenant, resource, asOf, signal } = options
  const filters = recordFilters(options)
  const file = new ReplayFile(path)
  try {
    const recorder = new Recorder(file, options)
    await recorder.history(STREAMS.changes, 'change')
    for await (const batch of readLast(bus, {
      stream: STREAMS.state,
      filterSubjects: filters('change'),
      signal,
    })) {
      for (const message of batch) recorder.last(message)
    }
    await recorder.history(STREAMS.intents, 'intent')
    await recorder.history(STREAMS.outcomes, 'outcome')
    const { translateFor, vault } = options
    let differences: number | undefined
    if (translateFor !== undefined && vault !== undefined) {
      await translateLog(file, { ...options, vault, contexts: translateFor, filters })
      differences = file.countDifferences()
    }
    file.finish({
      as_of: new Date(asOf ?? recorder.latest).toISOString(),
      tenant: tenant ?? '',
      resource: resource ?? '',
      is_cut: String(recorder.isCut),
    })
    return { ...recorder.counts, isCut: recorder.isCut, ...(differences === undefined ? {} : { differences }) }
  } catch (error) {
    file.discard()
    throw error
  }
}

/** Filters for what is chosen; with a tenant also the changes that concern all. */
export function recordFilters({
  tenant,
  resource,
}: Pick<RecordOptions, 'tenant' | 'resource'>): (type: RecordType) => string[] {
  return (type) => {
    const shared = type === 'change' && tenant !== undefined ? [recordFilter(type, { tenant: '', resource })] : []
    return [recordFilter(type, { tenant, resource }), ...shared]
  }
}

class Recorder {
  readonly counts = { changes: 0, intents: 0, outcomes: 0, unreadable: 0 }
  /** Whether the log no longer reaches back to its beginning. */
  isCut = false
  /** When the latest of what was read was stored, ms since the epoch. */
  latest = 0
  readonly #file: ReplayFile
  readonly #options: RecordOptions
  readonly #asOf: number

  constructor(file: ReplayFile, options: RecordOptions) {
    this.#file = file
    this.#options = options
    this.#asOf = options.asOf ?? Number.POSITIVE_INFINITY
  }

  /** What a stream holds now, in its order. */
  async history(stream: StreamName, type: RecordType): Promise<void> {
    const { bus, signal } = this.#options
    const onCut = (): void => {
      this.isCut = true
    }
    for await (const batch of readThere(bus, {
      stream,
      filterSubjects: recordFilters(this.#options)(type),
      signal,
      onCut,
    })) {
      for (const message of batch) this.#take(stream, message)
    }
  }

  /** A last state, of which the history may hold nothing. */
  last(message: LogMessage): void {
    const origin = originOf(message)
    if (origin?.stream !== STREAMS.changes) return
    this.#take(STREAMS.changes, { ...message, seq: origin.seq })
  }

  #take(stream: StreamName, message: LogMessage): void {
    if (message.storedAt > this.#asOf) return
    this.latest = Math.max(this.latest, message.storedAt)
    try {
      const [table, row] = this.#row(message)
      this.#add(table, row)
    } catch (error) {
      const { seq, storedAt: at, subject } = message
      this.#add('unreadable', { stream, seq, at, subject, error: errorMessage(error) })
    }
  }

  #row(message: LogMessage): ['changes' | 'intents' | 'outcomes', Row] {
    const { type } = parseSubject(message.subject)
    if (type === 'change') return ['changes', changeRow(message, this.#options.vault)]
    if (type === 'intent') return ['intents', intentRow(message, this.#options.vault)]
    return ['outcomes', outcomeRow(message)]
  }

  #add(table: Exclude<Table, 'decisions'>, row: Row): void {
    const isNew = this.#file.add(table, row)
    if (!isNew) return
    this.counts[table] += 1
    const total = this.counts.changes + this.counts.intents + this.counts.outcomes
    if (total % 50_000 === 0) this.#options.onProgress?.(total)
  }
}
