import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { CausewayError, type Clock, backoffDelay } from '#libs/kernel'

export type ChildOptions = {
  name: string
  /** Module to run, relative to services/. */
  module: string
  args?: readonly string[]
  env?: Record<string, string>
  /** File that its standard error, and its output after the first line, go to. */
  logFile: string
  /** Whether its first line of output says that it is ready. */
  readyLine?: boolean
  clock: Clock
  /** Told of every end that was not asked for. */
  onExit?: (exit: { name: string; code: number | null; signal: string | null; restartInMs: number }) => void
}

/** A child process that is started again when it dies. */
export type ChildService = {
  readonly name: string
  readonly pid: number | undefined
  /** The line it printed when it was ready last. */
  readonly readyLine: string
  /** Ends it: SIGTERM, then SIGKILL after `timeoutMs`. */
  stop(timeoutMs?: number): Promise<void>
}

const RESTART = { baseMs: 100, capMs: 5_000 }

/** V8 keeps young garbage for long by default: on one machine with several processes, memory counts for more. */
const NODE_FLAGS = ['--max-semi-space-size=4']

/**
 * Starts a service as a process of its own; resolves when it runs (and has printed its ready line, if it has one).
 * @throws CausewayError `ChildFailed` with the end of its log when it ends before that
 */
export async function startChild(options: ChildOptions): Promise<ChildService> {
  let stopping = false
  let child: ChildProcess
  let readyLine = ''
  let failures = 0
  let exited = Promise.resolve()

  const launch = async (): Promise<void> => {
    const started = spawnOnce(options)
    child = started.child
    const gone = new Promise<void>((done) => child.once('exit', () => done()))
    exited = gone
    child.once('exit', (code, signal) => {
      if (stopping || !started.ready) return
      const restartInMs = backoffDelay(RESTART, failures++, () => 1)
      options.onExit?.({ name: options.name, code, signal, restartInMs })
      void options.clock.sleep(restartInMs).then(relaunch)
    })
    readyLine = await started.whenReady
    started.ready = true
  }
  const relaunch = async (): Promise<void> => {
    if (stopping) return
    try {
      await launch()
      failures = 0
    } catch {
      const restartInMs = backoffDelay(RESTART, failures++, () => 1)
      options.onExit?.({ name: options.name, code: null, signal: null, restartInMs })
      await options.clock.sleep(restartInMs)
      await relaunch()
    }
  }

  await launch()
  return {
    name: options.name,
    get pid() {
      return child.pid
    },
    get readyLine() {
      return readyLine
    },
    stop: async (timeoutMs = 15_000) => {
      stopping = true
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
      await exited
      clearTimeout(force)
    },
  }
}

function spawnOnce(options: ChildOptions): { child: ChildProcess; whenReady: Promise<string>; ready: boolean } {
  mkdirSync(dirname(options.logFile), { recursive: true })
  const log = openSync(options.logFile, 'a')
  const script = fileURLToPath(new URL(`../../${options.module}`, import.meta.url))
  const child = spawn(process.execPath, [...NODE_FLAGS, script, ...(options.args ?? [])], {
    env: { ...process.env, ...options.env },
    stdio: ['ignore', options.readyLine === true ? 'pipe' : log, log],
    // Signals of the terminal go to the whole group: children are stopped by us, in order.
    detached: true,
  })
  closeSync(log)
  const failed = new Promise<never>((_resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      reject(
        new CausewayError(
          `${options.name} ended at its start (${signal ?? `status ${code}`}): see ${options.logFile}`,
          {
            code: 'ChildFailed',
          },
        ),
      )
    })
  })
  const output = child.stdout
  if (output === null) {
    const spawned = new Promise<string>((done) => child.once('spawn', () => done('')))
    return { child, whenReady: Promise.race([spawned, failed]), ready: false }
  }
  const firstLine = new Promise<string>((done) => createInterface({ input: output }).once('line', done))
  failed.catch(() => undefined)
  return { child, whenReady: Promise.race([firstLine, failed]), ready: false }
}
