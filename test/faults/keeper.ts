import { setTimeout as sleep } from 'node:timers/promises'
import { type Installation, startUp } from '../harness/installation.ts'
import { type Spawned, startScript } from '../harness/process.ts'
import { ROLES, type RoleName } from './plan.ts'

/** Keeps `causeway up` running as a supervisor of the machine would, and further workers beside it. */
export type Keeper = {
  /** The pid of what a role runs in; `undefined` while it does not run. */
  pidOf(process: RoleName | 'nats' | 'up', options?: { rival?: boolean }): number | undefined
  /** Ends all of it, and starts it again. @throws what `end` throws, once it runs again */
  replace(end: (up: Installation) => Promise<unknown>): Promise<void>
  /** Resolves when it runs. */
  running(): Promise<void>
  close(): Promise<void>
}

export type KeeperOptions = {
  data: string
  separate: boolean
  hostKubeconfig: string
  tenants: readonly string[]
  /** Whether a second watcher, translator and writer share the work. */
  rivals: boolean
  env: Record<string, string>
  tell: (line: string) => void
}

export async function startKeeper(options: KeeperOptions): Promise<Keeper> {
  const { data, separate, hostKubeconfig, tenants, rivals, env, tell } = options
  let up = await startUp({ data, separate, hostKubeconfig, tenants, env })
  let starting: Promise<void> | undefined
  let isClosing = false
  const rivalProcesses = new Map<RoleName, Spawned>()

  const start = async (): Promise<void> => {
    while (!isClosing) {
      try {
        up = await startUp({ data, separate, hostKubeconfig, tenants, env })
        watch(up)
        return
      } catch (error) {
        tell(`up did not start: ${String(error).split('\n').slice(0, 3).join(' ')}`)
        await sleep(500)
      }
    }
  }
  const begin = (work: () => Promise<void>): Promise<void> => {
    const after = starting ?? Promise.resolve()
    const mine = after.then(work).finally(() => {
      if (starting === mine) starting = undefined
    })
    starting = mine
    return mine
  }
  const watch = (installation: Installation): void => {
    void installation.process.exited.then(async ({ code, signal }) => {
      if (isClosing || installation !== up || starting !== undefined) return
      tell(`up ended by itself (${String(signal ?? code)}): ${installation.process.stderr().trim().slice(-400)}`)
      await begin(async () => {
        await installation.kill()
        await start()
      })
    })
  }
  watch(up)

  const startRival = (role: RoleName): void => {
    const { natsUrl } = up.ready
    const rival = startScript(`services/${role}/main.ts`, [], {
      env: {
        ...env,
        CAUSEWAY_NATS_URL: natsUrl,
        CAUSEWAY_DATA_DIR: `${data}/rival`,
        CAUSEWAY_KEY_RING_FILE: `${data}/keys.json`,
        CAUSEWAY_LOG_FILE: `${data}/logs/rival-${role}.log`,
      },
    })
    rivalProcesses.set(role, rival)
    void rival.exited.then(async ({ code, signal }) => {
      if (isClosing) return
      if (signal !== 'SIGKILL') tell(`rival ${role} ended (${String(signal ?? code)}): ${rival.stderr().slice(-300)}`)
      await sleep(300)
      if (!isClosing) startRival(role)
    })
  }
  if (rivals) for (const role of ROLES) startRival(role)

  const pidOf: Keeper['pidOf'] = (process, { rival = false } = {}) => {
    if (process === 'up') return up.process.pid
    if (rival && rivals && process !== 'nats') return rivalProcesses.get(process)?.pid
    if (starting !== undefined) return undefined
    if (process !== 'nats' && !separate) return up.process.pid
    return up.pids()[process]
  }
  return {
    pidOf,
    replace: (end) =>
      begin(async () => {
        try {
          await end(up)
        } finally {
          await start()
        }
      }),
    running: () => starting ?? Promise.resolve(),
    close: async () => {
      isClosing = true
      await Promise.all([...rivalProcesses.values()].map((rival) => rival.end('SIGKILL')))
      await starting
      await up.end()
    },
  }
}
