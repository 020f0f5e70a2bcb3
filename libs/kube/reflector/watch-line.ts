import { isUtf8 } from 'node:buffer'
import { errorMessage } from '#libs/kernel'
import type { KubeObject, WatchEventType } from '#libs/kube-model'
import { KubeProtocolError, apiErrorFromStatus } from '../errors.ts'
import type { KubeStatus } from '../errors.ts'
import { withoutManagedFields } from './managed-fields.ts'

/** What every object of an API server has. */
export type ReflectedObject = KubeObject & {
  metadata: KubeObject['metadata'] & { name: string; uid: string; resourceVersion: string }
}

export type WatchLine =
  | { type: WatchEventType; object: ReflectedObject; raw: Buffer }
  | { type: 'BOOKMARK'; resourceVersion: string }

/**
 * Reads a line of a watch. The whole line is parsed, so that bytes that are no JSON never reach the log.
 * @param keepManagedFields whether somebody downstream reads them
 * @throws KubeApiError for an `ERROR` event, KubeProtocolError (`Corrupt`) for what is no event
 */
export function parseWatchLine(line: Buffer, keepManagedFields = false): WatchLine {
  const raw = wellEncoded(keepManagedFields ? line : withoutManagedFields(line))
  const event = parse(raw)
  const metadata = event.object?.metadata
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      if (!metadata?.name || !metadata.uid || !metadata.resourceVersion) throw corrupt(line, 'object without identity')
      return { type: event.type, object: event.object as ReflectedObject, raw }
    case 'BOOKMARK':
      if (!metadata?.resourceVersion) throw corrupt(line, 'bookmark without resourceVersion')
      return { type: 'BOOKMARK', resourceVersion: metadata.resourceVersion }
    case 'ERROR':
      throw apiErrorFromStatus('watch', (event.object ?? {}) as KubeStatus)
    case undefined:
    default:
      throw corrupt(line, 'unknown type of event')
  }
}

/** An item of a list as the watch line that would have announced it. */
export function watchLineOf(item: KubeObject, keepManagedFields = false): { object: ReflectedObject; raw: Buffer } {
  const { managedFields: _, ...metadata } = item.metadata
  const object = (keepManagedFields ? item : { ...item, metadata }) as ReflectedObject
  return { object, raw: Buffer.from(JSON.stringify({ type: 'ADDED', object })) }
}

/** What is no UTF-8 is replaced, as every client of Kubernetes reads it: in the log it would be read by nobody. */
function wellEncoded(line: Buffer): Buffer {
  return isUtf8(line) ? line : Buffer.from(line.toString('utf8'))
}

function parse(line: Buffer): { type?: string; object?: Partial<KubeObject> } {
  let event: unknown
  try {
    event = JSON.parse(line.toString('utf8'))
  } catch (error) {
    throw corrupt(line, errorMessage(error))
  }
  if (typeof event !== 'object' || event === null) throw corrupt(line, 'no event')
  return event
}

/** The line itself stays out of the message: it may be a Secret. */
function corrupt(line: Buffer, problem: string): KubeProtocolError {
  // V8 quotes the text around the mistake.
  const plain = problem.replace(/, .*$/s, '')
  return new KubeProtocolError(`corrupt line of ${line.length} bytes in a watch: ${plain}`, { reason: 'Corrupt' })
}
