import { type ChildProcess, spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

export const root = dirname(dirname(import.meta.dirname))

export type Exit = { code: number | null; signal: NodeJS.Signals | null }

/** A process of ours. */
export type Spawned = {
  readonly pid: number
  /** Its first line of standard output. Rejects with what it said when it ends without one. */
  readonly firstLine: Promise<string>
  readonly exited: Promise<Exit>
  /** All it has printed so far. */
  stdout(): string
  stderr(): string
  /** Sends a signal, such as one that makes it stand still. */
  signal(signal: NodeJS.Signals): void
  /** Sends a signal and waits for its end. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<Exit>
}

const alive = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})
// How the test runner ends a worker that has more to do than it should: it must not leave processes behind.
process.once('SIGTERM', () => process.exit(143))

/** Runs a script of the project on the Node that runs the tests. */
export function startScript(
  script: string,
  args: readonly string[],
  options: { env?: Record<string, string> } = {},
): Spawned {
  // What the tests are told is no setting of the services: those refuse what they do not know.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('CAUSEWAY_E2E_'))
  const env = { NODE_COMPILE_CACHE: join(root, '.cache', 'node-compile'), ...Object.fromEntries(own), ...options.env }
  return startProgram(process.execPath, [join(root, script), ...args], { env })
}

/** Runs any program. @throws Error when it cannot be started */
export function startProgram(
  program: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; input?: string } = {},
): Spawned {
  const child = spawn(program, args, { cwd: root, env: options.env ?? process.env, stdio: 'pipe' })
  if (child.pid === undefined) throw new Error(`${program} could not be started`)
  alive.add(child)
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.input ?? '')
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text
    })
  }
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => {
      alive.delete(child)
      resolve({ code, signal })
    })
  })
  const firstLine = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    void exited.then(({ code, signal }) =>
      reject(new Error(`${program} ${args.join(' ')} ended (${signal ?? code}): ${output.stderr || output.stdout}`)),
    )
  })
  // Whoever does not ask for the line learns of the end by `exited`.
  firstLine.catch(() => undefined)
  return {
    pid: child.pid,
    firstLine,
    exited,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    signal: (signal) => void child.kill(signal),
    end: async (signal) => {
      child.kill(signal)
      const force = setTimeout(() => child.kill('SIGKILL'), 30_000)
      const exit = await exited
      clearTimeout(force)
      return exit
    },
  }
}

/** Whether a process of this id runs; one that is dead and not yet collected does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
