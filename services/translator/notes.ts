import type { VerdictReason } from '#libs/explain'
import type { ObjectRef } from '#libs/kube-model'
import type { Pending, Projection } from '#libs/projection'
import { type Decision, SWITCHES, type View, hasOwnNamespaces, isNamespaceMapped, kindFor } from '#libs/translation'

/** What keeps an object from the host, or from starting there, although no write of it waits. */
export type NoteReason = Extract<VerdictReason, 'Excluded' | 'MissingReference'>

export const NOTE_REASONS: readonly NoteReason[] = ['Excluded', 'MissingReference']

export type Note = { reason: NoteReason; message: string }

export const NOTE_SLOT = 'note'

/** What is missing is told again while it is: an API server forgets an Event after an hour. */
const TELL_AGAIN = { firstMs: 60_000, mostMs: 1_800_000 }

/**
 * What is to be told about an object of which nothing waits: that its tenant has excluded it, where it can be by mistake,
 * or that it cannot start. That objects like it never cross is no news.
 */
export function noteOn(
  view: View,
  decisions: readonly Decision[],
  known: Pick<Projection, 'objects' | 'synced'>,
): Note | undefined {
  const virtual = view.virtual.object
  const kind = kindFor(view.key.resource)
  if (virtual === undefined || kind === undefined || virtual.metadata.deletionTimestamp !== undefined) return undefined
  if (!kind.isEnabled(view.tenant.config)) return undefined
  if (virtual.metadata.annotations?.[SWITCHES.sync] === 'false') {
    return { reason: 'Excluded', message: `its annotation ${SWITCHES.sync} is "false"` }
  }
  if (kind.lifecycle === 'pod' && isUnmapped(view)) {
    return { reason: 'Excluded', message: `namespace ${view.key.namespace} has no place on the host` }
  }
  if (decisions.some(({ kind: what }) => what === 'wait' || what === 'reject') || hasStarted(virtual['status'])) {
    return undefined
  }
  const missing = kind.requiredReferences(virtual, view.tenant).filter((ref) => isMissing(view, ref, known))
  if (missing.length === 0) return undefined
  return { reason: 'MissingReference', message: missing.map(({ resource, name }) => `${resource}/${name}`).join(', ') }
}

/** @returns what to remember, and whether the tenant is to be told now */
export function keepNote(row: Pending | undefined, note: Note, now: number): { put?: Pending; isToTell: boolean } {
  const isSame = row?.reason === note.reason && row.message === note.message
  if (isSame && (row.due === undefined || row.due > now)) return { isToTell: false }
  const attempt = isSame ? row.attempt + 1 : 0
  const due = now + Math.min(TELL_AGAIN.mostMs, TELL_AGAIN.firstMs * 2 ** attempt)
  const put: Pending = {
    slot: NOTE_SLOT,
    intentId: '',
    digest: '',
    attempt,
    state: 'noted',
    carriesBase: false,
    ...note,
    since: isSame ? row.since : now,
    ...(note.reason === 'Excluded' ? {} : { due }),
  }
  return { put, isToTell: true }
}

function isUnmapped({ key, tenant }: View): boolean {
  if (!hasOwnNamespaces(tenant) || !tenant.config.sync.toHost.namespaces.mappingsOnly) return false
  return !isNamespaceMapped(key.namespace, tenant)
}

/** Whether a pod has gone further than to wait for what it refers to. */
function hasStarted(status: unknown): boolean {
  const { phase = 'Pending' } = (status ?? {}) as { phase?: string }
  return phase !== 'Pending'
}

/** Whether a complete list has shown that the tenant does not have it. */
function isMissing({ tenant }: View, ref: ObjectRef, known: Pick<Projection, 'objects' | 'synced'>): boolean {
  if (known.objects.peek({ tenant: tenant.name, side: 'virtual', ...ref })?.object !== undefined) return false
  return known.synced(tenant.name, 'virtual', ref.resource)
}

/** The note among the rows of a key. */
export function noteIn(rows: readonly Pending[]): Pending | undefined {
  return rows.find(({ slot }) => slot === NOTE_SLOT)
}
