import { relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CausewayError, errorMessage, systemClock } from '#libs/kernel'
import { createKubeClient } from '#libs/kube'
import { displayName } from '#libs/kube-model'
import { lazyClusterConfig } from '#libs/runtime'
import { hostName } from '#libs/translation'
import { followInto, nextOutcome } from '../output/follow.ts'
import { SyncRows } from '../output/sync-rows.ts'
import { renderLine, renderTable } from '../output/table.ts'
import type { Terminal } from '../output/terminal.ts'
import { applySample, sampleObjects } from '../sample/apply-sample.ts'
import { type CheckedTenant, checkTenant } from '../sample/check-sample.ts'
import { type BringUpOptions, type Up, bringUp } from './bring-up.ts'

export type UpOptions = Omit<BringUpOptions, 'progress'> & {
  /** Check the result and end, instead of staying. */
  once: boolean
  json: boolean
  /** Whether to apply the sample to embedded tenants. */
  sample: boolean
  terminal: Terminal
}

/** How long the parts may take to be ready, and the sample to run. */
const READY_TIMEOUT_MS = 90_000
const POLL_MS = 50

/**
 * Runs `causeway up` until the signal aborts.
 * @returns the exit status
 */
export async function up(options: UpOptions): Promise<number> {
  const { terminal, signal, json, once } = options
  const startedAt = systemClock.now()
  const progress = (step: string): void => {
    if (!json) terminal.progress(`· ${step}`)
  }
  const running = await bringUp({ ...options, progress })
  const tenants = running.tenants.map((tenant) => ({
    ...tenant,
    client: createKubeClient(lazyClusterConfig(tenant.kubeconfig, systemClock)),
  }))
  const following = new AbortController()
  let status = 0
  try {
    const printed = new Map<string, string>()
    const rows = new SyncRows({
      hostCopyOf: (tenant, ref) => {
        const namespace = tenants.find(({ name }) => name === tenant)?.hostNamespace ?? ''
        return displayName({ namespace, name: hostName(ref, tenant) })
      },
      onChange: (row) => {
        if (terminal.isTty) return
        const line = renderLine(row)
        const id = `${row.tenant} ${row.object}`
        if (printed.get(id) !== line) terminal.print(line)
        printed.set(id, line)
      },
    })
    const fromSeq = await nextOutcome(running.bus)
    // What nobody sees would be a second watch of every tenant's pods.
    const isShown = !json
    await untilEmpty(() => running.pipeline.notReady(), { signal, what: 'not ready' })
    if (!json) terminal.progress(`· ready after ${((systemClock.now() - startedAt) / 1_000).toFixed(1)} s`)
    const follow = isShown
      ? followInto(rows, { bus: running.bus, tenants, fromSeq, signal: following.signal })
      : Promise.resolve()
    // What is synced goes on without the table; that it shows nothing more must not pass for rest.
    follow.catch((error: unknown) => {
      if (!following.signal.aborted) terminal.progress(`· the table stands still: ${errorMessage(error)}`)
    })
    const stopDrawing = terminal.isTty && isShown ? drawEvery(terminal, rows) : () => undefined
    const samples = await applySamples(options, tenants)
    if (json) terminal.print(JSON.stringify(summary(running)))
    if (once) {
      status = await checkAll({ running, tenants, samples, options, rows })
    } else {
      if (!json) await settleThenGuide({ running, tenants, samples, options })
      await Promise.race([aborted(signal), running.pipeline.failed])
    }
    stopDrawing()
    if (!json && terminal.isTty) drawNow(terminal, rows)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    following.abort()
    if (!json) terminal.progress('· stopping')
    await Promise.all(tenants.map(({ client }) => client.close()))
    await running.close()
  }
  if (!json) terminal.progress('· stopped; the next start goes on from here')
  return status
}

type ServedTenant = CheckedTenant & { kubeconfig: string }
type Samples = ReadonlyMap<string, ReturnType<typeof sampleObjects>>

/**
 * Applies the sample to the embedded tenants, and a Deployment to the first. What a user has made of an earlier start's
 * sample stays so, unless the sample is to be checked.
 */
async function applySamples(options: UpOptions, tenants: readonly ServedTenant[]): Promise<Samples> {
  const embedded = new Set(
    options.plan.tenants.filter((tenant) => tenant.kubeconfig === undefined).map(({ name }) => name),
  )
  const samples = new Map<string, ReturnType<typeof sampleObjects>>()
  if (!options.sample) return samples
  const { folder, once } = options
  const applied = new Set(folder.sampled())
  for (const [index, tenant] of tenants.filter(({ name }) => embedded.has(name)).entries()) {
    if (applied.has(tenant.name) && !once) continue
    const objects = sampleObjects(index === 0)
    samples.set(tenant.name, objects)
    await applySample(tenant.client, objects)
    applied.add(tenant.name)
    folder.storeSampled([...applied])
  }
  return samples
}

async function checkAll(context: {
  running: Up
  tenants: readonly ServedTenant[]
  samples: Samples
  options: UpOptions
  rows: SyncRows
}): Promise<number> {
  const { running, tenants, samples, options, rows } = context
  const { terminal, json } = options
  const problems = async (): Promise<string[]> => {
    const checks = tenants.map((tenant) => checkTenant(tenant, running.hostClient, samples.get(tenant.name) ?? []))
    return (await Promise.all(checks)).flat()
  }
  try {
    await untilEmpty(problems, { signal: options.signal, what: 'not as it should be' })
  } catch (error) {
    if (!(error instanceof CausewayError)) throw error
    terminal.progress(error.message)
    return 1
  }
  if (json) return 0
  if (!terminal.isTty) {
    terminal.print('')
    for (const line of renderTable(rows.all(), { width: 240, limit: 100 })) terminal.print(line)
  }
  const pods = rows.all().filter((row) => row.object.startsWith('pod/')).length
  terminal.print(`ok: ${pods} pods of ${tenants.length} tenants run on the host, and both sides agree`)
  return 0
}

/** Waits for the sample, so that what is printed last stays in sight, then says what to try. */
async function settleThenGuide(context: {
  running: Up
  tenants: readonly ServedTenant[]
  samples: Samples
  options: UpOptions
}): Promise<void> {
  const { running, tenants, samples, options } = context
  const { terminal, signal } = options
  const unsettled = async (): Promise<string[]> => {
    const sampled = tenants.filter(({ name }) => samples.has(name))
    return (
      await Promise.all(
        sampled.map((tenant) => checkTenant(tenant, running.hostClient, samples.get(tenant.name) ?? [])),
      )
    ).flat()
  }
  await untilEmpty(unsettled, { signal, what: 'not as it should be', timeoutMs: 20_000 }).catch((error: unknown) => {
    if (signal.aborted) throw error
    terminal.progress(error instanceof CausewayError ? error.message : String(error))
  })
  for (const line of guide(running, tenants)) terminal.print(line)
}

function guide(running: Up, tenants: readonly ServedTenant[]): string[] {
  const path = (file: string): string => relative(process.cwd(), file) || file
  const first = tenants[0]
  return [
    '',
    ...(running.info().consoleUrl === undefined ? [] : [`Console: ${running.info().consoleUrl}`, '']),
    'Kubeconfigs:',
    `  host     ${path(running.info().hostKubeconfig)}`,
    ...tenants.map((tenant) => `  ${tenant.name.padEnd(8)} ${path(tenant.kubeconfig)}`),
    '',
    'Try, in another terminal:',
    ...(first === undefined
      ? ['  npm run causeway -- tenant create team-a']
      : [
          `  kubectl --kubeconfig ${path(first.kubeconfig)} get pods -A -o wide`,
          `  kubectl --kubeconfig ${path(first.kubeconfig)} create deployment hello --image=nginx --replicas=3`,
          `  kubectl --kubeconfig ${path(running.info().hostKubeconfig)} get pods -n ${first.hostNamespace}`,
          '  npm run causeway -- tenant create team-c',
        ]),
    '  npm run causeway -- status',
    '',
    'Ctrl-C stops everything; the next start goes on from here.',
  ]
}

function summary(running: Up): object {
  const info = running.info()
  return {
    ready: true,
    ...info,
    health: running.pipeline.healthUrls(),
    kubeconfigs: {
      host: info.hostKubeconfig,
      ...Object.fromEntries(running.tenants.map((tenant) => [tenant.name, tenant.kubeconfig])),
    },
  }
}

/** Asks again until nothing is left. @throws CausewayError `TimedOut` listing what is */
async function untilEmpty(
  ask: () => Promise<string[]>,
  options: { signal: AbortSignal; what: string; timeoutMs?: number },
): Promise<void> {
  const deadline = systemClock.now() + (options.timeoutMs ?? READY_TIMEOUT_MS)
  for (;;) {
    options.signal.throwIfAborted()
    const left = await ask()
    if (left.length === 0) return
    if (systemClock.now() > deadline) {
      throw new CausewayError(`still ${options.what}:\n  ${left.join('\n  ')}`, { code: 'TimedOut' })
    }
    await sleep(POLL_MS, undefined, { signal: options.signal }).catch(() => undefined)
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

const DRAW_EVERY_MS = 200

function drawEvery(terminal: Terminal, rows: SyncRows): () => void {
  const timer = setInterval(() => drawNow(terminal, rows), DRAW_EVERY_MS)
  return () => clearInterval(timer)
}

function drawNow(terminal: Terminal, rows: SyncRows): void {
  terminal.redraw(renderTable(rows.all(), { width: terminal.width, limit: Math.max(5, terminal.height - 20) }))
}
