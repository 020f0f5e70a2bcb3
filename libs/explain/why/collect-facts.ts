import { partitionOf } from '#libs/events'
import {
  type KubeObject,
  type ObjectKey,
  type ObjectRef,
  type ResourceInfo,
  type Side,
  resourceToken,
} from '#libs/kube-model'
import {
  HOLD_PREFIX,
  type DroppedWrites,
  type TenantEntry,
  droppedKey,
  openDeletionHolds,
  openDroppedWrites,
  readTenantContext,
} from '#libs/runtime'
import {
  type Decision,
  LABELS,
  RULES,
  SWITCHES,
  type TenantContext,
  decideFor,
  exclusionFor,
  isCopyOf,
  kindFor,
} from '#libs/translation'
import { hideValues } from '../hide-values.ts'
import { syncOfKind } from '../kinds/sync-settings.ts'
import type { Sources } from '../sources.ts'
import { TenantState } from '../state/tenant-state.ts'
import { readStory } from '../story/read-story.ts'
import type { Story } from '../story/story-entry.ts'
import { type StorySubject, storySubject } from '../story/story-subject.ts'
import { apiFacts } from './api-facts.ts'
import type { Facts, LiveFact, SeenFact, WantedWrite } from './facts.ts'
import { type LiveObject, liveFact, readLive } from './live-object.ts'
import { exclusionOf } from './exclusion.ts'
import { serviceFacts } from './service-facts.ts'
import { copyTakenAt, endOf, writeFacts } from './write-facts.ts'

/** The object that is asked about, by the tenant's name for it. */
export type Question = { tenant: string; info: ResourceInfo; namespace: string; name: string }

/**
 * Finds out all there is to know about one object of a tenant: from the registry, the log, and both APIs as they are
 * now.
 * @throws BusError when the log cannot be read
 */
export async function collectFacts(sources: Sources, question: Question): Promise<{ facts: Facts; story: Story }> {
  const { tenant, info, namespace, name } = question
  const partition = partitionOf(tenant, sources.partitions)
  const ref: ObjectRef = { resource: resourceToken(info), namespace: info.namespaced ? namespace : '', name }
  const object = { tenant, kind: info.kind, ...ref }
  const entry = await sources.registry.get(tenant)
  const { context, problems } = entry === undefined ? { context: undefined, problems: [] } : readTenantContext(entry)
  if (entry === undefined || context === undefined) {
    return {
      facts: unregistered({ object, partition, problems, isRegistered: entry !== undefined, now: sources.now() }),
      story: { entries: [], isCut: false },
    }
  }
  const about = storySubject(context, ref, sources)
  const [state, story, services, apis, live, held, dropped] = await Promise.all([
    TenantState.read(sources.bus, { tenant: context, partition, vault: sources.vault, about: ref }),
    readStory(sources, about),
    serviceFacts(sources.bus, { partition, replicas: sources.replicas }),
    apiFacts(sources, tenant),
    readBoth(sources, { entry, info, about }),
    holdOf(sources, tenant),
    openDroppedWrites(sources.bus, sources.replicas).then((kv) => kv.get(droppedKey(tenant, ref))),
  ])
  try {
    const seen = { virtual: seenFact(state, about.virtual), host: seenFact(state, live.hostKey) }
    const facts: Facts = {
      askedAt: sources.now(),
      object,
      tenant: { isRegistered: true, partition, hostNamespace: context.hostNamespace, problems },
      sync: syncOfKind(ref.resource, context.config, entry.config),
      apis: apis(live),
      services,
      seen,
      live: {
        virtual: liveFact(live.virtual, state.seen(about.virtual)),
        host: hostFact(live, { state, context, ref }),
      },
      writes: writeFacts(story.entries),
      ...decided(state, { about, live, context }),
    }
    const taken = copyTakenAt(story.entries)
    const ended = endOf(story.entries)
    return {
      facts: {
        ...facts,
        ...(held === undefined ? {} : { held }),
        ...droppedFact(dropped?.value),
        ...(taken === undefined ? {} : { copyTakenAt: taken }),
        ...(ended === undefined ? {} : { ended }),
      },
      story,
    }
  } finally {
    state.close()
  }
}

function droppedFact(mark: DroppedWrites | undefined): Pick<Facts, 'dropped'> {
  if (mark === undefined) return {}
  const { at, by } = mark
  return { dropped: { at, ...(by === undefined ? {} : { by }) } }
}

async function holdOf({ bus, replicas }: Sources, tenant: string): Promise<Facts['held']> {
  const holds = await openDeletionHolds(bus, replicas)
  const hold = (await holds.get(`${HOLD_PREFIX}${tenant}`))?.value
  if (hold === undefined || !('waiting' in hold)) return undefined
  const { since, side, waiting, contradiction } = hold
  return { since, side, waiting, ...(contradiction === undefined ? {} : { contradiction }) }
}

/** The host's object, and whether it is what it should be. */
function hostFact(live: Both, of: { state: TenantState; context: TenantContext; ref: ObjectRef }): LiveFact {
  const { state, context, ref } = of
  const fact = liveFact(live.host, state.seen(live.hostKey))
  if (fact.state !== 'there' || live.host.state !== 'there') return fact
  const made = state.view(ref).made?.uid
  const isCopy = isCopyOf(live.host.object, context, ref) || made === fact.uid
  return { ...fact, isOurs: live.hostKey.tenant === '' || isCopy }
}

type Both = Record<Side, LiveObject> & { hostKey: ObjectKey; original?: LiveObject }

/** Both sides as they are now. What the tenant sees of the host is held against the host's own object. */
async function readBoth(
  sources: Sources,
  of: { entry: TenantEntry; info: ResourceInfo; about: StorySubject },
): Promise<Both> {
  const { entry, info, about } = of
  const read = (key: ObjectKey | undefined): Promise<LiveObject | undefined> =>
    key === undefined ? Promise.resolve(undefined) : readLive(sources.host, info, key)
  const [virtual, copy, original] = await Promise.all([
    readLive(sources.clientOf(entry), info, about.virtual),
    read(about.copy),
    read(about.original),
  ])
  const isShown = virtual.state === 'there' && virtual.object.metadata.labels?.[LABELS.mirror] === 'true'
  const isOriginal =
    copy === undefined ||
    isShown ||
    (virtual.state === 'absent' && copy.state === 'absent' && original?.state === 'there')
  const host = isOriginal ? original : copy
  const hostKey = isOriginal ? about.original : about.copy
  return {
    virtual,
    host: host ?? { state: 'absent' },
    hostKey: hostKey ?? about.virtual,
    ...(original === undefined ? {} : { original }),
  }
}

/** What today's code makes of what is there now. Where a side cannot be read, the log's word stands for it. */
function decided(
  state: TenantState,
  of: { about: StorySubject; live: Both; context: TenantContext },
): Pick<Facts, 'wanted' | 'rejected' | 'excluded' | 'isPaused' | 'missing'> {
  const { about, live, context } = of
  put(state, about.virtual, live.virtual)
  put(state, live.hostKey, live.host)
  if (about.original !== undefined && live.original !== undefined) put(state, about.original, live.original)
  state.projection.refreshReferences({ tenant: context.name, ref: about.ref })
  const view = state.view(about.ref)
  const virtual = view.virtual.object
  const isPaused = virtual?.metadata.annotations?.[SWITCHES.pause] === 'true'
  const decisions = decideFor(view)
  // What the pause holds back is to be seen as well.
  const unpaused =
    virtual === undefined || !isPaused
      ? decisions
      : decideFor({ ...view, virtual: { ...view.virtual, object: withoutPause(virtual) } })
  const rule = exclusionFor(view)
  const rejected = decisions.find((each) => each.kind === 'reject')
  const kind = kindFor(about.ref.resource)
  const missing =
    virtual === undefined || kind === undefined
      ? []
      : kind.requiredReferences(virtual, context).filter((each) => view.related.virtual(each) === undefined)
  return {
    wanted: unpaused.flatMap((each) => wantedWrite(each, context.name)),
    isPaused,
    missing: rule === undefined ? missing : [],
    ...(rejected === undefined ? {} : { rejected: { reason: rejected.reason, message: rejected.message } }),
    ...(rule === undefined || virtual === undefined
      ? {}
      : { excluded: exclusionOf(rule, virtual, { context, ref: about.ref }) }),
  }
}

function put(state: TenantState, key: ObjectKey, live: LiveObject): void {
  if (live.state === 'unknown') return
  state.put(key, live.state === 'there' ? live.object : undefined)
}

function withoutPause(object: KubeObject): KubeObject {
  const { [SWITCHES.pause]: _pause, ...annotations } = object.metadata.annotations ?? {}
  return { ...object, metadata: { ...object.metadata, annotations } }
}

function wantedWrite(decision: Decision, tenant: string): WantedWrite[] {
  if (decision.kind !== 'write') return []
  const { write, target, rule } = decision
  const key: ObjectKey = { tenant, ...target }
  const op = write.op === 'patch' && write.subresource !== undefined ? `patch/${write.subresource}` : write.op
  const body = write.op === 'patch' && !Array.isArray(write.body) ? { body: hideValues(key, write.body) } : {}
  return [{ side: target.side, op, rule, because: RULES[rule], target: key, ...body }]
}

function seenFact(state: TenantState, key: ObjectKey): SeenFact {
  const last = state.seen(key)
  const unreadable = state.unreadable(key)
  return {
    key,
    isListed: state.isListed(key.side, key.resource),
    ...(last === undefined
      ? {}
      : { last: { type: last.type, resourceVersion: last.resourceVersion, uid: last.uid, at: last.at } }),
    ...(unreadable === undefined ? {} : { unreadable }),
  }
}

function unregistered(of: {
  object: Facts['object']
  partition: number
  problems: string[]
  isRegistered: boolean
  now: number
}): Facts {
  const { object, partition, problems, isRegistered, now } = of
  const { kind: _kind, ...ref } = object
  const unknown = { state: 'unknown', reason: 'ApiUnavailable', message: 'the tenant is not registered' } as const
  const seen = (side: Side): SeenFact => ({ key: { ...ref, side }, isListed: false })
  return {
    askedAt: now,
    object,
    tenant: { isRegistered, partition, problems },
    sync: {},
    isPaused: false,
    apis: { virtual: { state: 'unknown', message: '' }, host: { state: 'unknown', message: '' } },
    services: [],
    seen: { virtual: seen('virtual'), host: seen('host') },
    live: { virtual: unknown, host: unknown },
    wanted: [],
    missing: [],
    writes: [],
  }
}
