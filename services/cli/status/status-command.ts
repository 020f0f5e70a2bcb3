import { ConfigError, errorMessage, systemClock } from '#libs/kernel'
import { type WaitingReport, openWaitingReports, waitingKey } from '#libs/runtime'
import { waitingLines } from '../parked/waiting.ts'
import { type CommandOptions, type Running, withRunning } from '../tenant/running.ts'
import { EXIT } from '../why/exit-status.ts'
import { gatherStatus } from './gather.ts'
import { type StatusReport, complaints, signature } from './report.ts'
import { statusLines } from './status-lines.ts'

const LOOK_EVERY_MS = 1_000

/** Shows processes, partitions, streams and tenants. Exit status 1 when something is not in order, see `complaints`. */
export async function status(options: CommandOptions & { tenant?: string; watch: boolean }): Promise<number> {
  const { tenant } = options
  return withRunning(options, async (running) => {
    if (tenant !== undefined) return waitingOf(running, { ...options, tenant })
    if (options.watch) return watchStatus(running, options)
    const report = await gatherStatus(running)
    show(report, options)
    return complaints(report).length === 0 ? EXIT.inSync : EXIT.notInSync
  })
}

/** Goes on until Ctrl-C: on a terminal the tables are drawn anew each second, elsewhere there is a block per change. */
async function watchStatus(running: Running, options: CommandOptions): Promise<number> {
  const { terminal, json, signal } = options
  const isDrawn = terminal.isTty && !json
  let before: string | undefined
  let last: number = EXIT.cannotTell
  while (!signal.aborted) {
    try {
      const report = await gatherStatus(running)
      last = complaints(report).length === 0 ? EXIT.inSync : EXIT.notInSync
      const now = signature(report)
      if (isDrawn) terminal.redraw(statusLines(report, terminal.width).slice(0, terminal.height - 1))
      else if (now !== before) {
        if (!json) terminal.print(new Date(report.at).toISOString())
        show(report, options)
        if (!json) terminal.print('')
      }
      before = now
    } catch (error) {
      if (signal.aborted) break
      last = EXIT.cannotTell
      const problem = `causeway: ${errorMessage(error)}`
      if (problem !== before) terminal.progress(problem)
      before = problem
    }
    await systemClock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined)
  }
  return last
}

function show(report: StatusReport, { terminal, json }: CommandOptions): void {
  if (json) terminal.print(JSON.stringify({ ...report, complaints: complaints(report) }))
  else for (const line of statusLines(report, terminal.isTty ? terminal.width : undefined)) terminal.print(line)
}

/** Shows which objects of a tenant wait. Exit status 1 when some do. @throws ConfigError when there is no such tenant */
async function waitingOf(
  { info, bus, registry }: Running,
  { tenant, terminal, json }: CommandOptions & { tenant: string },
): Promise<number> {
  if ((await registry.get(tenant)) === undefined)
    throw new ConfigError([`no tenant "${tenant}": "causeway tenant list" shows those there are`])
  const stored = await (await openWaitingReports(bus, info.replicas)).get(waitingKey(tenant))
  const report: WaitingReport = stored?.value ?? { counts: {}, objects: [] }
  if (json) terminal.print(JSON.stringify({ tenant, ...report }))
  else
    for (const line of waitingLines(tenant, report, terminal.isTty ? terminal.width : undefined)) terminal.print(line)
  return report.objects.length === 0 ? EXIT.inSync : EXIT.notInSync
}
