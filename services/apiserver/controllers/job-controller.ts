import { jsonEqual } from '#libs/kernel'
import type { Controller, ControllerContext } from './controller-context.ts'
import { deleteObject } from './delete-object.ts'
import { cacheKey, objectKey, splitKey } from './informer.ts'
import { isFinishedJob, planJob } from './job.ts'
import type { Job } from './job.ts'
import { controllerOf } from './owner-references.ts'
import type { Pod } from './pods.ts'
import { STEP_SIZE, podFromTemplate } from './replica-set.ts'
import { createWorkQueue } from './work-queue.ts'

const RESOURCE = 'jobs.batch'
const OWNER = { apiVersion: 'batch/v1', kind: 'Job' }
const POD_CHANGE_DELAY_MS = 15

/** Runs Jobs to completion. Indexed completion and pod failure policies are not implemented. */
export function startJobController(context: ControllerContext): Controller {
  const { api, clock, random } = context
  const jobs = context.informers.of(RESOURCE)
  const pods = context.informers.of('pods')
  const queue = createWorkQueue({ name: 'job', reconcile, ...context })

  jobs.onChange(({ object, isDeleted }) => {
    if (!isDeleted) queue.add(objectKey(object))
  })
  pods.onChange(({ object }) => {
    const owner = controllerOf(object)
    if (owner?.kind === OWNER.kind) queue.add(cacheKey(object.metadata.namespace, owner.name), POD_CHANGE_DELAY_MS)
  })

  function reconcile(key: string): number | void {
    const { namespace, name } = splitKey(key)
    const job = api.get(RESOURCE, namespace, name) as Job | undefined
    if (job === undefined || job.metadata.deletionTimestamp !== undefined) return undefined
    if (isFinishedJob(job)) return expire(job)
    const owned = pods.controlledBy(job.metadata.uid ?? '') as Pod[]
    const plan = planJob(job, owned, clock.now())
    for (const pod of plan.podsToDelete) deleteObject(api, 'pods', pod)
    const count = Math.min(plan.podsToCreate, STEP_SIZE)
    for (let index = 0; index < count; index++) createPod(job)
    if (!jsonEqual(plan.status, job.status)) {
      jobs.observe(api.update(RESOURCE, { ...job, status: plan.status }, { subresource: 'status' }))
    }
    return count > 0 ? 1 : undefined
  }

  function createPod(job: Job): void {
    const pod = podFromTemplate(job, job.spec?.template ?? {}, { ...OWNER, random })
    pods.observe(api.create('pods', job.metadata.namespace, pod))
  }

  /** Deletes a finished job when its time to live is over. */
  function expire(job: Job): number | void {
    const seconds = job.spec?.ttlSecondsAfterFinished
    if (seconds === undefined) return undefined
    const ended = job.status?.conditions?.find(({ type }) => type === 'Complete' || type === 'Failed')
    const leftMs = Date.parse(ended?.lastTransitionTime ?? '') + seconds * 1000 - clock.now()
    if (leftMs > 0) return leftMs
    deleteObject(api, RESOURCE, job, { propagationPolicy: 'Background' })
    return undefined
  }

  return { close: () => queue.close() }
}
