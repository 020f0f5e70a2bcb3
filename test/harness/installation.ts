import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Exit, type Spawned, root, startScript } from './process.ts'

/** What `causeway up --json` prints when it is ready. */
type ReadyLine = {
  pid: number
  natsUrl: string
  apiserverUrl?: string
  hostKubeconfig: string
  processes: Record<string, number>
  health: Record<string, string>
  kubeconfigs: Record<string, string>
}

export type InstallationOptions = {
  /** @default a folder of its own, removed by `dispose` */
  data?: string
  separate: boolean
  /** Whether tenants get the sample. @default false */
  sample?: boolean
  /** Values of `--tenant`. */
  tenants?: readonly string[]
  hostKubeconfig?: string
  /** Whether to serve the console. @default false */
  console?: boolean
  /** Further arguments of `up`. */
  args?: readonly string[]
  /** Further environment of all processes. */
  env?: Record<string, string>
}

/** A running `causeway up`. */
export type Installation = {
  readonly data: string
  readonly ready: ReadyLine
  readonly process: Spawned
  /** Current pids by what runs in them; `up` is the command itself. */
  pids(): Record<string, number>
  /** Runs another command on it. */
  command(...args: string[]): Promise<CommandResult>
  /** Ends it in order; its data stays. */
  stop(): Promise<Exit>
  /** Kills the command itself, and waits until all that it started is gone but NATS, which nobody tells. */
  kill(): Promise<void>
  /** Starts it again on the same data. */
  restart(changes?: Partial<InstallationOptions>): Promise<Installation>
  /** Ends it and all that it started, however it stands; its data stays. */
  end(): Promise<void>
  /** Ends it however it stands, and removes its data. */
  dispose(): Promise<void>
}

export type CommandResult = { code: number | null; stdout: string; stderr: string }

/** Folders in use: what runs on them ends with the tests, whatever becomes of these. */
const folders = new Set<string>()
process.once('exit', () => {
  for (const { pid } of [...folders].flatMap(processesOf)) killQuietly(pid)
})

const CLI = 'services/cli/main.ts'

/** Runs a command of `causeway` to its end. */
export async function causeway(...args: string[]): Promise<CommandResult> {
  const process = startScript(CLI, args)
  const { code } = await process.exited
  return { code, stdout: process.stdout(), stderr: process.stderr() }
}

/** Starts `causeway up` and waits until it is ready. @throws Error with what it said when it ends before that */
export async function startUp(options: InstallationOptions): Promise<Installation> {
  const data = options.data ?? newFolder()
  folders.add(data)
  const process = startScript(CLI, upArguments(data, options), { env: options.env ?? {} })
  const end = async (): Promise<void> => {
    await process.end('SIGTERM')
    await endLeftovers(data)
    folders.delete(data)
  }
  const dispose = async (): Promise<void> => {
    await end()
    rmSync(data, { recursive: true, force: true, maxRetries: 5 })
  }
  let ready: ReadyLine
  try {
    ready = JSON.parse(await process.firstLine) as ReadyLine
  } catch (error) {
    if (options.data === undefined) await dispose()
    throw error
  }
  return {
    data,
    ready,
    process,
    pids: () => {
      const info = JSON.parse(readFileSync(join(data, 'running.json'), 'utf8')) as ReadyLine
      return { up: info.pid, ...info.processes }
    },
    command: (...args) => causeway(...args, '--data', data),
    stop: () => process.end('SIGTERM'),
    kill: async () => {
      await process.end('SIGKILL')
      await endLeftovers(data, { except: 'nats-server' })
    },
    restart: (changes) => startUp({ ...options, ...changes, data }),
    end,
    dispose,
  }
}

export function upArguments(data: string, options: Omit<InstallationOptions, 'data'>): string[] {
  return [
    'up',
    '--json',
    ...(options.sample === true ? [] : ['--no-sample']),
    ...(options.console === true ? [] : ['--no-console']),
    '--data',
    data,
    ...(options.separate ? ['--separate'] : []),
    ...(options.hostKubeconfig === undefined ? [] : ['--host-kubeconfig', options.hostKubeconfig]),
    ...(options.tenants ?? []).flatMap((tenant) => ['--tenant', tenant]),
    ...(options.args ?? []),
  ]
}

/** A folder for one test. */
export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'causeway-e2e-'))
}

/** Waits for the end of what was started on a folder and has lost its parent; by force after a while. */
async function endLeftovers(data: string, options: { except?: string } = {}): Promise<void> {
  const deadline = Date.now() + 10_000
  for (;;) {
    const left = processesOf(data).filter(({ command }) => !(options.except && command.includes(options.except)))
    if (left.length === 0) return
    for (const { pid, command } of left) {
      if (command.includes('nats-server') || Date.now() > deadline) killQuietly(pid)
    }
    await sleep(50)
  }
}

/** Processes of this project that name the folder in their command line or environment. */
function processesOf(data: string): { pid: number; command: string }[] {
  if (!existsSync('/proc')) return []
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) return []
    try {
      const command = readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ')
      const isOurs = command.includes('nats-server') || command.includes(root)
      if (!isOurs) return []
      const named = command.includes(data) || readFileSync(`/proc/${entry}/environ`, 'utf8').includes(data)
      return named && !command.includes(`${CLI} tenant`) ? [{ pid: Number(entry), command }] : []
    } catch {
      return []
    }
  })
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
