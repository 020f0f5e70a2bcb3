import { JetStreamApiError, type StreamConfig, type StreamInfo } from '@nats-io/jetstream'
import type { StreamDeclaration } from '#libs/events'
import { canonicalJson, errorMessage } from '#libs/kernel'
import type { Bus } from './connection.ts'
import { BusError } from './errors.ts'

const nanosPerMs = 1_000_000
const streamNotFound = 10_059

/** What of a stream cannot be changed once it is there. */
const fixedFields = ['retention', 'storage'] as const

/**
 * Brings the streams of an installation to what is declared: creates those that are missing and changes those that
 * differ. What is there already and equal is left alone, so every service may call this.
 * @returns names of the streams that were created or changed
 * @throws BusError `StreamMismatch` for a stream that differs in a way that cannot be changed
 */
export async function ensureStreams(bus: Bus, declarations: readonly StreamDeclaration[]): Promise<string[]> {
  const touched: string[] = []
  for (const declaration of declarations) if (await ensureStream(bus, declaration)) touched.push(declaration.name)
  return touched
}

async function ensureStream(bus: Bus, declaration: StreamDeclaration): Promise<boolean> {
  const wanted = streamConfig(declaration)
  const existing = await findStream(bus, declaration.name)
  if (existing === undefined) {
    await change(declaration, () => bus.manager.streams.add(wanted))
    return true
  }
  for (const field of fixedFields) {
    if (existing.config[field] !== wanted[field])
      throw mismatch(declaration, `its ${field} is ${existing.config[field]}, not ${wanted[field]}`)
  }
  if (differences(existing.config, wanted).length === 0) return false
  await change(declaration, () => bus.manager.streams.update(declaration.name, { ...existing.config, ...wanted }))
  return true
}

/** Information about a stream, or undefined when there is none of that name. */
async function findStream(bus: Bus, name: string): Promise<StreamInfo | undefined> {
  try {
    return await bus.manager.streams.info(name)
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === streamNotFound) return undefined
    throw error
  }
}

/** The declaration in the server's words. */
export function streamConfig(declaration: StreamDeclaration): Partial<StreamConfig> & { name: string } {
  const { name, description, subjects, sources } = declaration
  return {
    name,
    description,
    retention: 'limits',
    storage: 'file',
    discard: 'old',
    num_replicas: declaration.replicas,
    max_age: declaration.maxAgeMs * nanosPerMs,
    max_bytes: declaration.maxBytes,
    max_msgs_per_subject: declaration.maxMessagesPerSubject,
    duplicate_window: declaration.duplicateWindowMs * nanosPerMs,
    allow_direct: true,
    allow_msg_ttl: true,
    ...(sources.length === 0 ? { subjects: [...subjects] } : { sources: sources.map((source) => ({ name: source })) }),
  }
}

/** Names of the fields in which a stream is not what is wanted. */
export function differences(existing: Partial<StreamConfig>, wanted: Partial<StreamConfig>): string[] {
  const fields = Object.keys(wanted) as (keyof StreamConfig)[]
  return fields.filter((field) => {
    if (field === 'sources') {
      const names = (config: Partial<StreamConfig>) => (config.sources ?? []).map((source) => source.name)
      return canonicalJson(names(existing)) !== canonicalJson(names(wanted))
    }
    return canonicalJson(existing[field] ?? null) !== canonicalJson(wanted[field] ?? null)
  })
}

async function change(declaration: StreamDeclaration, call: () => Promise<unknown>): Promise<void> {
  try {
    await call()
  } catch (error) {
    if (error instanceof JetStreamApiError) throw mismatch(declaration, errorMessage(error), error)
    throw error
  }
}

function mismatch(declaration: StreamDeclaration, why: string, cause?: unknown): BusError {
  return new BusError(
    `stream ${declaration.name} cannot be made what this installation needs: ${why}. If another installation owns it, ` +
      `use another NATS account; if it is a leftover, remove it with "nats stream rm ${declaration.name}" and start again ` +
      '(the state is read afresh from the clusters, the history is lost).',
    { code: 'StreamMismatch', cause },
  )
}
