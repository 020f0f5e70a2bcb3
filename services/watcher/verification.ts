import type { Clock } from '#libs/kernel'
import type { ListPage } from '#libs/kube'
import type { KubeObject } from '#libs/kube-model'
import type { WatchedCluster } from './cluster.ts'
import { readOne } from './confirm-missing.ts'
import { type KindLog, knownOf } from './kind-log.ts'
import type { KindScope } from './kind-scope.ts'
import { type Known, nameOf } from './known-objects.ts'
import type { ObjectIntake } from './object-intake.ts'
import { isAtLeast } from './versions.ts'

export type VerificationOptions = {
  cluster: WatchedCluster
  scope: KindScope
  log: KindLog
  intake: ObjectIntake
  clock: Clock
  /** The version up to which the watch has told. */
  watched: () => string
  /** Everything handed out so far is in the log. */
  settled: (signal: AbortSignal) => Promise<void>
  /** Runs a step between two events of the watch. */
  inTurn: <T>(step: () => Promise<T>) => Promise<T>
}

/** What a list says, against what was published, of one object. */
type Doubt = { listed?: Known; published?: Known }

const PAGE = 250
/** Between two pages: nobody waits for the answer. */
const PAUSE_MS = 50
/** What a watch tells is published within this time, as a rule. */
const SETTLE_MS = 2_000
/** Servers say about once a minute up to where a quiet watch has told. */
const PATIENCE_MS = 75_000
const LOOK_EVERY_MS = 250

/**
 * Finds what a watch has lost, as an API server or something before it may drop an event: lists the kind page by page and
 * compares uid and version with what was published. What the watch has had time to tell and has not is read by name and
 * published.
 * @returns how much was missing; undefined when the list broke off, as it may
 * @throws ClusterChangedError, the signal's reason
 */
export async function verifyKind(
  options: VerificationOptions,
  signal: AbortSignal,
): Promise<{ missed: number; gone: number } | undefined> {
  const { log, clock, watched, settled } = options
  const compared = await compare(options, signal)
  if (compared === undefined) return undefined
  const { doubts, resourceVersion } = compared
  if (doubts.length === 0) return { missed: 0, gone: 0 }
  const begun = clock.now()
  await clock.sleep(SETTLE_MS, signal)
  while (!isAtLeast(watched(), resourceVersion) && clock.now() < begun + PATIENCE_MS)
    await clock.sleep(LOOK_EVERY_MS, signal)
  return options.inTurn(async () => {
    // What the watch has told may wait for a live read.
    await settled(signal)
    const lost = doubts.filter(({ listed, published }) => {
      const now = log.known?.get(listed ?? published ?? { namespace: '', name: '' })
      return now?.uid === published?.uid && now?.resourceVersion === published?.resourceVersion
    })
    return publishLost(options, { lost, resourceVersion }, signal)
  })
}

async function compare(
  { cluster, scope, log, clock, settled, inTurn }: VerificationOptions,
  signal: AbortSignal,
): Promise<{ doubts: Doubt[]; resourceVersion: string } | undefined> {
  const { labelSelector, namespace } = scope
  const listed = new Map<string, Known>()
  let resourceVersion = ''
  let page: ListPage | undefined
  do {
    try {
      const continueToken = page?.continueToken
      page = await cluster.client.listPage(scope.resource, {
        labelSelector,
        namespace,
        limit: PAGE,
        continueToken,
        signal,
      })
    } catch {
      signal.throwIfAborted()
      // The next one will do; what is wrong with the API the watch tells.
      return undefined
    }
    resourceVersion = page.resourceVersion
    for (const object of page.items) add(listed, scope, object)
    await clock.sleep(PAUSE_MS, signal)
  } while (page.continueToken !== undefined)
  return inTurn(async () => {
    await settled(signal)
    const known = await log.loadKnown(signal)
    const doubts: Doubt[] = []
    for (const item of listed.values()) {
      const published = known.get(item)
      if (published?.uid === item.uid && published.resourceVersion === item.resourceVersion) continue
      doubts.push({ listed: item, ...(published === undefined ? {} : { published }) })
    }
    for (const published of known.values()) if (!listed.has(nameOf(published))) doubts.push({ published })
    return { doubts, resourceVersion }
  })
}

function add(listed: Map<string, Known>, scope: KindScope, object: KubeObject): void {
  const tenant = scope.attribute(object)
  if (tenant === undefined) return
  const known = knownOf(tenant, object)
  listed.set(nameOf(known), known)
}

async function publishLost(
  { cluster, scope, log, intake }: VerificationOptions,
  { lost, resourceVersion }: { lost: Doubt[]; resourceVersion: string },
  signal: AbortSignal,
): Promise<{ missed: number; gone: number }> {
  const found = { missed: 0, gone: 0 }
  const vanished: Known[] = []
  for (const { listed, published } of lost) {
    if (published !== undefined && published.uid !== listed?.uid) vanished.push(published)
    if (listed === undefined || published !== undefined) continue
    const verdict = await readOne({ cluster, resource: scope.resource, known: listed, signal })
    if (verdict.found !== 'present') continue
    log.publishRead(listed.tenant, verdict.object, 'ADDED')
    found.missed++
  }
  const changed = lost.flatMap(({ listed, published }) => (published?.uid === listed?.uid ? (published ?? []) : []))
  const { gone, replaced } = await intake.confirm(vanished, resourceVersion, signal)
  const { present } = await intake.confirm(changed, resourceVersion, signal)
  return { missed: found.missed + present, gone: gone + replaced }
}
