import { stringify } from 'yaml'
import { type Bus, originOf, readLast } from '#libs/bus'
import { ALL_PARTITIONS, STREAMS, decodeChange, subjectFor } from '#libs/events'
import { type ChangeEntry, type Story, type StorySubject, hideValues } from '#libs/explain'
import type { KubeObject, ObjectKey, Side } from '#libs/kube-model'
import type { Vault } from '#libs/vault'
import type { SideState, SidesView } from '../views.ts'

/** What no one compares, and what would fill the page. */
const NOT_SHOWN = ['managedFields'] as const

/**
 * Both sides of an object as of a time: from its story with states, or from the last states where the history does not
 * reach back that far.
 * @throws BusError
 */
export async function sidesAsOf(
  bus: Bus,
  of: { about: StorySubject; story: Story; at: number; vault?: Vault | undefined },
): Promise<SidesView> {
  const { about, story, at } = of
  const host = about.copy ?? about.original
  const states: Partial<Record<Side, ChangeEntry>> = {}
  for (const entry of story.entries) if (entry.kind === 'change' && entry.at <= at) states[entry.side] = entry
  const view = async (side: Side, key: ObjectKey | undefined): Promise<SideState> => {
    if (key === undefined) return { namespace: '', name: '', isDeleted: false }
    const { namespace, name } = key
    const entry = states[side]
    if (entry !== undefined) {
      const { state } = entry
      return {
        namespace,
        name,
        at: entry.at,
        isDeleted: entry.type === 'DELETED',
        ...(state === undefined ? {} : { yaml: toYaml(state) }),
      }
    }
    const last = await lastState(bus, { key, partition: about.partition, at, vault: of.vault })
    return { namespace, name, isDeleted: false, ...last }
  }
  const [virtual, other] = await Promise.all([view('virtual', about.virtual), view('host', host)])
  return { at, virtual, host: other }
}

/** An object as people read it. */
function toYaml(object: KubeObject): string {
  const metadata = Object.fromEntries(
    Object.entries(object.metadata).filter(([name]) => !NOT_SHOWN.some((hidden) => hidden === name)),
  )
  return stringify({ ...object, metadata }, { lineWidth: 0, aliasDuplicateObjects: false })
}

async function lastState(
  bus: Bus,
  { key, partition, at, vault }: { key: ObjectKey; partition: number; at: number; vault: Vault | undefined },
): Promise<Partial<SideState>> {
  const subject = subjectFor('change', key.tenant === '' ? ALL_PARTITIONS : partition, key)
  for await (const batch of readLast(bus, { stream: STREAMS.state, filterSubjects: [subject] })) {
    for (const message of batch) {
      if (originOf(message) === undefined || message.storedAt > at) continue
      const change = decodeChange(message)
      if (change.type === 'DELETED') return { isDeleted: true, at: message.storedAt }
      return { yaml: toYaml(hideValues(key, change.object(), vault)), at: message.storedAt }
    }
  }
  return {}
}
