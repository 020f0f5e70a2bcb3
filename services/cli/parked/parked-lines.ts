import { type ObjectRef, displayName } from '#libs/kube-model'
import { align } from '../output/table.ts'

/** One object that waits, with the time since when (ms since the epoch) where that is known. */
export type ParkedObject = ObjectRef & {
  tenant: string
  reason: string
  since?: number
  /** Absent of what is tried again by itself. */
  dropped?: { at: number; by?: string }
}

/** What waits as a table. @param width of the terminal. @default as wide as it takes */
export function parkedLines(
  { objects, unnamed }: { objects: readonly ParkedObject[]; unnamed: number },
  width?: number,
): string[] {
  if (objects.length === 0 && unnamed === 0) return ['nothing waits']
  const rows = objects.map(({ tenant, resource, namespace, name, reason, since, dropped }) => [
    tenant,
    `${resource}/${displayName({ namespace, name })}`,
    reason,
    since === undefined ? '' : new Date(since).toISOString(),
    dropped === undefined ? '' : droppedText(dropped),
  ])
  return [
    ...align([['TENANT', 'OBJECT', 'WAITS FOR', 'SINCE', ''], ...rows], width),
    ...(unnamed > 0 ? [`… and ${unnamed} more that have waited less long`] : []),
    '"causeway parked show KIND/NAME -n NAMESPACE -t TENANT" says more of one, docs/reasons.md what each means',
  ]
}

/** That an operator has dropped something. */
export function droppedText({ at, by }: { at: number; by?: string }): string {
  return `dropped ${new Date(at).toISOString()}${by === undefined ? '' : ` by ${by}`}`
}
