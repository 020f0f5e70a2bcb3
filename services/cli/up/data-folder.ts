import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { CausewayError, errorMessage } from '#libs/kernel'
import { isAlive, processStart } from './process-start.ts'

/** Ports that were used last, so that kubeconfigs stay valid over restarts. */
export type StoredPorts = { nats?: number; apiserver?: number; console?: number }

/** How other commands find what `causeway up` has started. */
export type RunningInfo = {
  pid: number
  natsUrl: string
  /** The embedded API server, if there is one. */
  apiserverUrl?: string
  /** The console, unless it was left out. */
  consoleUrl?: string
  /** Kubeconfig of the host. */
  hostKubeconfig: string
  replicas: number
  partitions: number
  /** Pids by what runs in them; the roles of the pipeline are in `pid` where they are not listed. */
  processes: Record<string, number | undefined>
}

/** When a process that is named by its pid was started: the pid may be another's by now. */
type Started = { started?: string }

/** The one folder that `causeway up` keeps everything in. */
export class DataFolder {
  readonly root: string

  constructor(path: string) {
    this.root = resolve(path)
  }

  path(...parts: string[]): string {
    return join(this.root, ...parts)
  }

  get apiserver(): string {
    return this.path('apiserver')
  }

  /** Kubeconfig of an embedded cluster, as the API server writes it. */
  kubeconfig(cluster: string): string {
    return join(this.apiserver, 'kubeconfigs', `${cluster}.yaml`)
  }

  /** Names of the embedded clusters that the folder holds. */
  embeddedClusters(): string[] {
    const folder = join(this.apiserver, 'kubeconfigs')
    return existsSync(folder) ? readdirSync(folder).map((file) => file.replace(/\.yaml$/, '')) : []
  }

  apiserverAdminToken(): string {
    return readFileSync(join(this.apiserver, 'admin-token'), 'utf8').trim()
  }

  ports(): StoredPorts {
    return this.#read<StoredPorts>('ports.json') ?? {}
  }

  storePorts(ports: StoredPorts): void {
    this.#write('ports.json', ports)
  }

  /** Tenants to which the sample was applied. */
  sampled(): string[] {
    return this.#read<string[]>('sampled.json') ?? []
  }

  storeSampled(tenants: readonly string[]): void {
    this.#write('sampled.json', tenants)
  }

  /** What is running on this folder, if anything is. */
  running(): RunningInfo | undefined {
    const stored = this.#read<RunningInfo & Started>('running.json')
    if (stored === undefined) return undefined
    const { started, ...info } = stored
    return isAlive(info.pid, started) ? info : undefined
  }

  /**
   * Makes the folder where it is missing, and makes sure that nothing else runs on it.
   * @throws CausewayError `FolderInUse` naming the process, or `FolderUnusable`
   */
  claim(): void {
    try {
      mkdirSync(this.root, { recursive: true, mode: 0o700 })
      accessSync(this.root, constants.W_OK)
    } catch (error) {
      throw new CausewayError(`--data ${this.root}: no folder that can be written to (${errorMessage(error)})`, {
        code: 'FolderUnusable',
        cause: error,
      })
    }
    const lock = this.#read<{ pid: number } & Started>('up.pid')
    if (lock !== undefined && lock.pid !== process.pid && isAlive(lock.pid, lock.started)) {
      throw new CausewayError(
        `${this.root} is in use by process ${lock.pid}: stop it, or choose another folder with --data`,
        { code: 'FolderInUse' },
      )
    }
    this.#write('up.pid', { pid: process.pid, started: processStart(process.pid) })
  }

  storeRunning(info: RunningInfo): void {
    this.#write('running.json', { ...info, started: processStart(info.pid) })
  }

  release(): void {
    rmSync(this.path('running.json'), { force: true })
    rmSync(this.path('up.pid'), { force: true })
  }

  #read<T>(name: string): T | undefined {
    const path = this.path(name)
    if (!existsSync(path)) return undefined
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as T
    } catch {
      // Half written by a crash: the same as not written.
      return undefined
    }
  }

  #write(name: string, value: unknown): void {
    const path = this.path(name)
    writeFileSync(`${path}.new`, `${JSON.stringify(value)}\n`, { mode: 0o600 })
    renameSync(`${path}.new`, path)
  }
}
