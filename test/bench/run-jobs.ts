import { loadavg } from 'node:os'
import { errorMessage } from '#libs/kernel'
import { burstInTenants, burstOnHost } from './burst.ts'
import { openField } from './field.ts'
import { startInstallation } from './installation.ts'
import type { Job, Progress, Report, Stage } from './jobs.ts'
import type { BenchOptions } from './options.ts'

/** A job that is over. */
export type Done = {
  name: string
  /** Load average of the machine before it, of the last minute. */
  load: number
  seconds: number
} & (Report | { error: string })

/** Runs jobs one after another, each on a stage that the one before left as it found it. One that fails is told of. */
export async function* runJobs(
  options: BenchOptions,
  jobs: readonly Job[],
  progress: Progress,
): AsyncGenerator<Done, void, void> {
  let stage: OpenStage | undefined
  try {
    for (const [index, job] of jobs.entries()) {
      const load = loadavg()[0] ?? 0
      const begun = performance.now()
      const tell: Progress = (line) => progress(`${job.name} ${line}`)
      let outcome: Report | { error: string }
      try {
        if (job.tenants === undefined) {
          outcome = await job.run(tell)
        } else {
          // Those that are given serve every job.
          const tenants = options.tenants.length > 0 ? options.tenants.length : job.tenants
          if (stage?.tenants !== tenants) {
            await stage?.close()
            stage = undefined
            stage = await openStage(options, { jobs: jobs.slice(index), tenants, progress })
          }
          outcome = await job.run({ ...stage, progress: tell })
        }
      } catch (error) {
        outcome = { error: errorMessage(error) }
        // Whatever it left behind is no stage for others.
        await stage?.close().catch((after: unknown) => progress(errorMessage(after)))
        stage = undefined
      }
      yield { name: job.name, load, seconds: (performance.now() - begun) / 1_000, ...outcome }
    }
  } finally {
    await stage?.close()
  }
}

type OpenStage = Stage & { tenants: number; close(): Promise<void> }

async function openStage(
  options: BenchOptions,
  of: { jobs: readonly Job[]; tenants: number; progress: Progress },
): Promise<OpenStage> {
  const { jobs, tenants, progress } = of
  progress(`starting an installation with ${tenants} ${tenants === 1 ? 'tenant' : 'tenants'}`)
  const isGiven = options.tenants.length > 0
  const pods = jobs.map((job) => (job.tenants !== undefined && (isGiven || job.tenants === tenants) ? job.pods : 0))
  const installation = await startInstallation(options, { embedded: tenants, pods: Math.max(...pods) })
  try {
    const field = await openField(installation)
    await warmUp({ installation, field, progress }, options.warmupPods)
    const close = async (): Promise<void> => {
      await field.close()
      await installation.close()
    }
    return { installation, field, progress, tenants, close }
  } catch (error) {
    await installation.close()
    throw error
  }
}

/** Code runs slowly the first times, everywhere. */
async function warmUp({ installation, field, progress }: Stage, pods: number): Promise<void> {
  progress('warming up')
  await burstOnHost(installation, field, pods)
  await field.clear()
  await burstInTenants(installation, field, { tenants: field.tenants.length, pods })
  await field.clear()
}
