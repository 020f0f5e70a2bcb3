import { readLast } from '#libs/bus'
import { STREAMS, decodeIntent, partitionOf, tenantFilter } from '#libs/events'
import {
  type KubeObject,
  type ObjectKey,
  type ObjectRef,
  type ResourceInfo,
  keyString,
  resourceToken,
} from '#libs/kube-model'
import { type TenantEntry, readTenantContext } from '#libs/runtime'
import { ConfigError } from '#libs/kernel'
import {
  type Decision,
  LABELS,
  RULES,
  SWITCHES,
  type TenantContext,
  decideFor,
  kindFor,
  mirrorFor,
  watchedHost,
  watchedVirtual,
} from '#libs/translation'
import type { KubeClient } from '#libs/kube'
import type { Sources } from '../sources.ts'
import { TenantState } from '../state/tenant-state.ts'
import { explain } from '../why/explain.ts'
import { serviceFacts } from '../why/service-facts.ts'
import { problemOf } from '../why/live-object.ts'
import type { VerdictReason } from '../why/verdicts.ts'

/** One object whose two sides do not agree, and why. */
export type SideDifference = {
  ref: ObjectRef
  reason: VerdictReason
  /** What would have to be written, or what keeps it from being written. */
  summary: string
}

export type SidesCompared = {
  tenant: string
  /** Objects that were looked at, of both sides, and kinds that were. */
  objects: number
  resources: string[]
  differences: SideDifference[]
  /** Kinds that a side could not list, and why: nothing is said of their objects. */
  unread: { side: 'virtual' | 'host'; resource: string; message: string }[]
}

/** How many differences that nothing explains are looked at a second time. */
const RECHECKED = 20

/**
 * Compares both sides of a tenant as they are now: lists them, and has today's code decide about each object. What it
 * would write is a difference; each is explained by what the log says of it, or flagged as drift.
 * @param of.info one kind alone
 * @throws ConfigError for a tenant that is not registered or not accepted, BusError
 */
export async function compareSides(
  sources: Sources,
  of: { tenant: string; info?: ResourceInfo | undefined },
): Promise<SidesCompared> {
  const entry = await sources.registry.get(of.tenant)
  if (entry === undefined)
    throw new ConfigError([`no tenant "${of.tenant}": "causeway tenant list" shows those there are`])
  const { context, problems } = readTenantContext(entry)
  if (context === undefined) throw new ConfigError(problems)
  const partition = partitionOf(context.name, sources.partitions)
  const [state, underWay, services] = await Promise.all([
    TenantState.read(sources.bus, { tenant: context, partition, vault: sources.vault }),
    lastIntents(sources, context.name, partition),
    serviceFacts(sources.bus, { partition, replicas: sources.replicas }),
  ])
  const isWritten = services.some(({ role, owner }) => role === 'writer' && owner !== undefined)
  try {
    const unread = await putLive(sources, { state, context, entry, info: of.info })
    const skipped = new Set(unread.map(({ resource }) => resource))
    const resources = crossing(context, of.info).filter((token) => !skipped.has(token))
    const differences: SideDifference[] = []
    let objects = 0
    for (const { ref } of state.projection.sweep({ tenant: context.name, resources })) {
      objects++
      const found = differenceOf(state, ref, { underWay, isWritten })
      if (found !== undefined) differences.push(found)
    }
    return {
      tenant: context.name,
      objects,
      resources,
      differences: await recheck(sources, context, differences),
      unread,
    }
  } finally {
    state.close()
  }
}

/** Tokens of the kinds that cross for the tenant, in either direction, or of the one that is asked for. */
function crossing({ config }: TenantContext, info: ResourceInfo | undefined): string[] {
  const tokens = info === undefined ? watchedVirtual(config).map(resourceToken) : [resourceToken(info)]
  return tokens.filter((token) => [kindFor(token), mirrorFor(token)].some((kind) => kind?.isEnabled(config) === true))
}

/** Puts what both sides list now in the place of what the log says. */
async function putLive(
  sources: Sources,
  of: { state: TenantState; context: TenantContext; entry: TenantEntry; info: ResourceInfo | undefined },
): Promise<SidesCompared['unread']> {
  const { state, context, entry, info } = of
  const wanted = (all: readonly ResourceInfo[]): ResourceInfo[] => {
    const asked = new Set(crossing(context, info))
    return all.filter((each) => asked.has(resourceToken(each)))
  }
  const { copies, shared } = watchedHost([context])
  const labelSelector = `${LABELS.tenant}=${context.name}`
  const unread: SidesCompared['unread'] = []
  const put = async (
    client: KubeClient,
    each: ResourceInfo,
    as: { tenant: string; side: 'virtual' | 'host'; labelSelector?: string },
  ): Promise<void> => {
    const resource = resourceToken(each)
    try {
      const items = await listAll(client, each, as.labelSelector)
      putList(state, { tenant: as.tenant, side: as.side, resource }, items)
    } catch (error) {
      unread.push({ side: as.side, resource, message: problemOf(error).message })
    }
  }
  const tenantClient = sources.clientOf(entry)
  await Promise.all([
    ...wanted(watchedVirtual(context.config)).map((each) =>
      put(tenantClient, each, { tenant: context.name, side: 'virtual' }),
    ),
    ...wanted(copies).map((each) => put(sources.host, each, { tenant: context.name, side: 'host', labelSelector })),
    ...wanted(shared).map((each) => put(sources.host, each, { tenant: '', side: 'host' })),
  ])
  return unread
}

async function listAll(
  client: KubeClient,
  info: ResourceInfo,
  labelSelector: string | undefined,
): Promise<KubeObject[]> {
  const items: KubeObject[] = []
  for await (const page of client.listPages(info, { labelSelector })) items.push(...page.items)
  return items
}

function putList(state: TenantState, of: Pick<ObjectKey, 'tenant' | 'side' | 'resource'>, items: KubeObject[]): void {
  const there = new Set<string>()
  for (const item of items) {
    const { name = '', namespace = '' } = item.metadata
    const key: ObjectKey = { ...of, namespace, name }
    there.add(keyString(key))
    state.put(key, item)
  }
  for (const key of state.known(of)) if (!there.has(keyString(key))) state.put(key, undefined)
}

/** The last intent for each target. */
async function lastIntents({ bus }: Sources, tenant: string, partition: number): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const filterSubjects = [tenantFilter('intent', partition, tenant)]
  for await (const batch of readLast(bus, { stream: STREAMS.intents, filterSubjects })) {
    for (const message of batch) {
      try {
        const { target, id } = decodeIntent(message)
        found.set(keyString(target), id)
      } catch {
        // One that this build cannot read is none that is under way.
      }
    }
  }
  return found
}

/** The last intent for each target, and whether somebody carries them out. */
type Writing = { underWay: ReadonlyMap<string, string>; isWritten: boolean }

function differenceOf(state: TenantState, ref: ObjectRef, writing: Writing): SideDifference | undefined {
  const view = state.view(ref)
  const virtual = view.virtual.object
  const decisions = decideFor(view)
  const rejected = decisions.find((each) => each.kind === 'reject')
  if (rejected !== undefined) return { ref, reason: rejected.reason, summary: rejected.message }
  const write = decisions.find((each) => each.kind === 'write')
  if (write !== undefined) return ofWrite(state, { ref, write, ...writing })
  if (virtual?.metadata.annotations?.[SWITCHES.pause] !== 'true') return undefined
  const { [SWITCHES.pause]: _pause, ...annotations } = virtual.metadata.annotations
  const object = { ...virtual, metadata: { ...virtual.metadata, annotations } }
  const held = decideFor({ ...view, virtual: { ...view.virtual, object } }).find((each) => each.kind === 'write')
  return held === undefined ? undefined : { ref, reason: 'Paused', summary: `held back: ${wordsOf(held)}` }
}

function ofWrite(
  state: TenantState,
  of: Writing & { ref: ObjectRef; write: Extract<Decision, { kind: 'write' }> },
): SideDifference {
  const { ref, write, underWay, isWritten } = of
  const target: ObjectKey = { tenant: state.tenant.name, ...write.target }
  const outcome = state.outcome(target)
  const last = underWay.get(keyString(target))
  if (outcome?.reason !== undefined && (outcome.result === 'parked' || outcome.result === 'refused')) {
    const answer = outcome.message === undefined ? '' : `: ${outcome.message}`
    return { ref, reason: outcome.reason, summary: `${wordsOf(write)} is ${outcome.result}${answer}` }
  }
  if (last !== undefined && last !== outcome?.intentId) {
    const summary = `${wordsOf(write)} is under way`
    return isWritten
      ? { ref, reason: 'InFlight', summary }
      : { ref, reason: 'WriterStopped', summary: `${summary}, and no writer works` }
  }
  return { ref, reason: 'Drift', summary: wordsOf(write) }
}

function wordsOf({ write, target, rule }: Extract<Decision, { kind: 'write' }>): string {
  return `${write.op} on the ${target.side === 'host' ? 'host' : 'tenant'} (${RULES[rule]})`
}

/** What nothing explains may have changed between the two lists: it is looked at once more, alone. */
async function recheck(
  sources: Sources,
  { name: tenant, config }: TenantContext,
  differences: SideDifference[],
): Promise<SideDifference[]> {
  const kept: SideDifference[] = []
  let rechecked = 0
  for (const each of differences) {
    const info = watchedVirtual(config).find((kind) => resourceToken(kind) === each.ref.resource)
    if (each.reason !== 'Drift' || info === undefined || rechecked >= RECHECKED) {
      kept.push(each)
      continue
    }
    rechecked++
    const { namespace, name } = each.ref
    const { verdict } = await explain(sources, { tenant, info, namespace, name })
    if (verdict.isInSync !== true) kept.push({ ref: each.ref, reason: verdict.reason, summary: verdict.summary })
  }
  return kept
}
