import { setTimeout as sleep } from 'node:timers/promises'
import { isConflict } from '#libs/kube'
import type { KubeObject } from '#libs/kube-model'
import { isAbsent } from './classify.ts'
import type { Call } from './execute.ts'
import { withPreconditions } from './patch-precondition.ts'

/** The API sets it on what is deleted so that what it owns stays; the cluster's garbage collector takes it off. */
const ORPHAN = 'orphan'
/** A cluster where the garbage collector takes longer has none, most likely. */
const LET_GO_MS = 3_000
const POLL_MS = 20

type TenantCall = Pick<Call, 'client' | 'resource' | 'options' | 'intent'>

/** Whether an object on its way out waits until what it owns has lost its reference to it. */
export function isOrphaning({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(ORPHAN) === true
}

/**
 * Waits until an object that was deleted as an owner is gone, or waits for other finalizers. Where no garbage collector
 * does its part, nothing would be collected either: then the object is let go without.
 * @param left as it was when it was deleted
 * @param withinMs how long the garbage collector has for that
 */
export async function untilLetGo(left: KubeObject, call: TenantCall, withinMs = LET_GO_MS): Promise<void> {
  const { uid = '' } = left.metadata
  const deadline = Date.now() + withinMs
  for (let live: KubeObject | undefined = left; live?.metadata.uid === uid && isOrphaning(live);) {
    if (Date.now() >= deadline) return await letGo(live, call)
    await sleep(POLL_MS)
    live = await read(call)
  }
}

async function letGo(live: KubeObject, { client, resource, options, intent }: TenantCall): Promise<void> {
  const { uid = '', resourceVersion, finalizers = [] } = live.metadata
  const body = withPreconditions(
    { metadata: { finalizers: finalizers.filter((each) => each !== ORPHAN) } },
    { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
  )
  try {
    await client.patch(resource, intent.target, body, { ...options, type: 'merge' })
  } catch (error) {
    // Somebody was faster.
    if (!isAbsent(error) && !isConflict(error)) throw error
  }
}

async function read({ client, resource, options, intent }: TenantCall): Promise<KubeObject | undefined> {
  try {
    return await client.get(resource, intent.target, options)
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}
