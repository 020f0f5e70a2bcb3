import { setTimeout as sleep } from 'node:timers/promises'
import { KubeApiError, KubeConnectionError, isAlreadyExists, isNotFound } from '#libs/kube'
import { type KubeObject, RESOURCES } from '#libs/kube-model'
import type { Cluster } from '../harness/cluster.ts'
import type { ApiObject } from './api-request.ts'
import type { Deeds } from './deeds.ts'
import { canonical } from './fields.ts'
import type { Work, WorkRef } from './workload.ts'

const RETRY_MS = 100

/** Does what one tenant is to do, one after the other, each at its time or as soon after as the API lets it. */
export async function doWork(options: {
  cluster: Cluster
  work: readonly Work[]
  deeds: Deeds
  startedAt: number
  signal: AbortSignal
}): Promise<void> {
  const { cluster, work, deeds, startedAt, signal } = options
  for (const one of work) {
    await sleep(Math.max(0, startedAt + one.at - Date.now()), undefined, { signal })
    const { tenant, ref } = one
    const create = async (object: ApiObject): Promise<void> => {
      const made = await createOnce(cluster, ref, object, signal)
      deeds.created(tenant, ref, made, Date.now())
    }
    if (one.do === 'create') await create(one.object)
    if (one.do === 'patch') {
      await insist(signal, () => cluster.patch(ref.kind, ref, one.patch)).catch(unlessGone)
    }
    if (one.do === 'delete') await remove(cluster, { ref, deeds, graceSeconds: one.graceSeconds, signal })
    if (one.do === 'recreate') {
      await remove(cluster, { ref, deeds, graceSeconds: 0, signal })
      await create(one.object)
    }
  }
}

async function remove(
  cluster: Cluster,
  options: { ref: WorkRef; deeds: Deeds; graceSeconds: number; signal: AbortSignal },
): Promise<void> {
  const { ref, deeds, graceSeconds, signal } = options
  const found = await insist(signal, () => cluster.find(ref.kind, ref))
  const uid = found?.metadata.uid
  if (uid === undefined) return
  deeds.deleting(uid, Date.now())
  const grace = ref.kind === 'pods' ? { gracePeriodSeconds: graceSeconds } : {}
  await insist(signal, () => cluster.client.delete(RESOURCES[ref.kind], ref, { uid, ...grace })).catch(unlessGone)
}

/** Creates it; an answer that was lost is found out, and an earlier object that is on its way out is waited for. */
async function createOnce(cluster: Cluster, ref: WorkRef, object: ApiObject, signal: AbortSignal): Promise<ApiObject> {
  for (;;) {
    try {
      return (await insist(signal, () => cluster.create(object as KubeObject))) as ApiObject
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
    const there = (await insist(signal, () => cluster.find(ref.kind, ref))) as ApiObject | undefined
    if (there !== undefined && there.metadata.deletionTimestamp === undefined && isMadeFrom(there, object)) return there
    await sleep(RETRY_MS, undefined, { signal })
  }
}

function isMadeFrom(there: ApiObject, object: ApiObject): boolean {
  const mark = ({ metadata, ...rest }: ApiObject): string =>
    canonical([metadata.labels?.['version'], (rest['data'] as { counter?: string } | undefined)?.counter])
  return mark(there) === mark(object)
}

/** Asks again while the API server is down. */
async function insist<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      const isPassing =
        error instanceof KubeConnectionError || (error instanceof KubeApiError && error.statusCode >= 500)
      if (!isPassing || signal.aborted) throw error
      await sleep(RETRY_MS, undefined, { signal })
    }
  }
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error
}
