import Sqlite from 'better-sqlite3'
import { type Bus, createPublisher } from '#libs/bus'
import { HEADERS, STREAMS, type RecordType } from '#libs/events'
import { readThere } from './finite.ts'

/** An intent that nothing has come of, as far as the log says. */
export type Unsettled = {
  seq: number
  at: number
  tenant: string
  side: string
  resource: string
  namespace: string
  name: string
  op: string
  rule: string
  /** What became of it, where anything did: `parked`, `refused` or `conflict`. */
  result: string | null
  reason: string | null
}

/**
 * The last intent of each target of a replay, where it was not carried out. What was carried out is never sent again:
 * a patch that was right once may have been overtaken from the other side since.
 */
export function unsettledIntents(path: string): Unsettled[] {
  const database = new Sqlite(path, { readonly: true })
  try {
    return database.prepare(UNSETTLED).all() as Unsettled[]
  } finally {
    database.close()
  }
}

const UNSETTLED = `
  SELECT i.seq, i.at, i.tenant, i.side, i.resource, i.namespace, i.name, i.op, i.rule, o.result, o.reason
  FROM intents i LEFT JOIN outcomes o
    ON o.seq = (SELECT max(l.seq) FROM outcomes l WHERE l.intent_id = i.id)
  WHERE i.op <> 'announce' AND (o.result IS NULL OR o.result NOT IN ('done', 'superseded')) AND i.seq = (
    SELECT max(l.seq) FROM intents l
    WHERE l.tenant = i.tenant AND l.side = i.side AND l.resource = i.resource
      AND l.namespace = i.namespace AND l.name = i.name AND l.op <> 'announce')
  ORDER BY i.seq`

/**
 * Sends intents again, as they are in the log, in their order. The writer takes each for what it is: one that a later
 * one of its target has overtaken, or whose object is another one by now, changes nothing.
 * @param at sets this sending apart from others, ms since the epoch
 * @returns how many were sent; those that the log has lost meanwhile are not among them
 * @throws BusError
 */
export async function reemit(
  bus: Bus,
  of: { intents: readonly Unsettled[]; filters: (type: RecordType) => string[]; at: number; signal: AbortSignal },
): Promise<number> {
  const { intents, filters, at, signal } = of
  const wanted = new Set(intents.map(({ seq }) => seq))
  const publisher = createPublisher(bus)
  let sent = 0
  try {
    for await (const batch of readThere(bus, { stream: STREAMS.intents, filterSubjects: filters('intent'), signal })) {
      for (const { seq, subject, headers, payload } of batch) {
        if (!wanted.delete(seq)) continue
        await publisher.ready()
        const msgId = `${headers[HEADERS.msgId] ?? seq}/again/${at}`
        await publisher.publish({ subject, headers: { ...headers, [HEADERS.msgId]: msgId }, payload })
        sent += 1
      }
      if (wanted.size === 0) break
    }
    await publisher.flush()
    return sent
  } finally {
    publisher.close()
  }
}
