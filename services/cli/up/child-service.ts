import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { CausewayError, type Clock, errorMessage } from '#libs/kernel'
import { keepRunning } from './keep-running.ts'

export type ChildOptions = {
  name: string
  /** Module to run, relative to services/. */
  module: string
  args?: readonly string[]
  env?: Record<string, string>
  /** File that its output goes to. */
  logFile: string
  /** Whether its first line of output says that it is ready. */
  readyLine?: boolean
  clock: Clock
  /** Told of every end that was not asked for, and after each restart. */
  onRestart: (what: string) => void
}

/** A child process that is started again when it dies. */
export type ChildService = {
  readonly pid: number | undefined
  /** Where it serves `/readyz`, once it has said so. */
  readonly healthUrl: string | undefined
  /** Ends it: SIGTERM, then SIGKILL if that takes too long. */
  stop(): Promise<void>
}

/** How long a service may take to end in order. */
const STOP_MS = 15_000

/** By default V8 lets much garbage gather before it looks: with several processes on one machine, memory counts more. */
const NODE_FLAGS = ['--max-semi-space-size=4']

/**
 * Starts a service as a process of its own; resolves when it runs (and has printed its ready line, if it has one).
 * @throws CausewayError `ChildFailed` with the end of its log when it ends before that
 */
export async function startChild(options: ChildOptions): Promise<ChildService> {
  const kept = await keepRunning<Launched>({
    ...options,
    start: () => launch(options),
    exited: ({ exited }) => exited,
    stop: async ({ process: child, exited }) => {
      child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await exited
      clearTimeout(force)
    },
  })
  return {
    get pid() {
      return kept.current.process.pid
    },
    get healthUrl() {
      return kept.current.healthUrl()
    },
    stop: () => kept.stop(),
  }
}

type Launched = { process: ChildProcess; exited: Promise<string>; healthUrl(): string | undefined }

async function launch(options: ChildOptions): Promise<Launched> {
  const { name, module, args = [], env, logFile, readyLine = false } = options
  mkdirSync(dirname(logFile), { recursive: true })
  const log = openSync(logFile, 'a')
  const script = fileURLToPath(new URL(`../../${module}`, import.meta.url))
  const child = spawn(process.execPath, [...NODE_FLAGS, script, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', readyLine ? 'pipe' : log, log, 'ipc'],
    // Signals of the terminal go to the whole group; children are stopped by us, in order. Should we be killed, the
    // channel closes, and they stop by themselves.
    detached: true,
  })
  closeSync(log)
  let healthUrl: string | undefined
  child.on('message', (message: { healthUrl?: string }) => {
    healthUrl = message.healthUrl ?? healthUrl
  })
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(errorMessage(error)))
    child.once('exit', (code, signal) => resolve(signal ?? `status ${code}`))
  })
  const started = new Promise<void>((resolve) => {
    if (child.stdout === null) child.once('spawn', () => resolve())
    else createInterface({ input: child.stdout }).once('line', () => resolve())
  })
  const failed = exited.then((how) => {
    throw new CausewayError(`${name} ended at its start (${how}): ${lastLine(logFile)} (log: ${logFile})`, {
      code: 'ChildFailed',
    })
  })
  failed.catch(() => undefined)
  await Promise.race([started, failed])
  return { process: child, exited, healthUrl: () => healthUrl }
}

function lastLine(path: string): string {
  return readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? ''
}
