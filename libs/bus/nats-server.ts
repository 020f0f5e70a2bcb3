import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { systemClock } from '#libs/kernel'
import { BusError } from './errors.ts'
import { type NatsBinary, findNatsServer } from './nats-binary.ts'
import { pidFile, renderNatsConfig } from './nats-config.ts'

export type NatsServerOptions = {
  /** @default what `findNatsServer` finds */
  binary?: NatsBinary
  /** Folder of streams, configuration and pid file; made if missing. */
  dataDir: string
  /** @default 127.0.0.1 */
  host?: string
  /** 0 lets the system choose. @default 4222 */
  port?: number
  /** @default nats-server.log in the data folder */
  logFile?: string
  /** How often written data is forced to disk, `always` or a time. Only a crash of the machine can lose the rest. @default 10s */
  syncInterval?: string
  token?: string
  /** Stops the server. */
  signal?: AbortSignal
  /** How long the start may take; a long log takes a while to be read. @default 60000 */
  startTimeoutMs?: number
}

/** A running nats-server. */
export type NatsServer = {
  /** For `connectBus`, without the token. */
  readonly url: string
  readonly port: number
  readonly process: ChildProcess
  readonly logFile: string
  /** Resolves when the server has ended, however that came about. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** Ends the server in order and waits for that; by force when it takes more than `timeoutMs`. @default 30000 */
  stop(timeoutMs?: number): Promise<void>
}

const pollMs = 20

/**
 * Percent by which garbage may outgrow what is in use. Most of that are buffers of the blocks that are written just now,
 * 30 MB of them, so that Go's own 100 doubles a small installation's; collecting takes far below 1 % of its CPU.
 */
const GARBAGE_PERCENT = '25'

/** A server that has been started and may not be ready. */
type Launch = {
  /** Tells the server from any other that answers on the port. */
  name: string
  child: ChildProcess
  exited: NatsServer['exited']
  dataDir: string
  host: string
  port: number
  logFile: string
  /** Length of the log before, in bytes. */
  logStart: number
}

/**
 * Starts a nats-server on this machine and waits until it takes clients. One that an earlier run of ours left behind on
 * the same data is ended first.
 * @throws BusError `PortTaken`, or `NatsServerFailed` with the end of its log
 */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  const dataDir = resolve(options.dataDir)
  const { host = '127.0.0.1', port = 4222 } = options
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const configFile = join(dataDir, 'nats-server.conf')
  await endLeftover(pidFile(dataDir), configFile)
  if (port !== 0 && (await isPortOpen(host, port))) throw portTaken(host, port)
  const launch = launchServer(options, { dataDir, host, port, configFile })
  const server = await untilReady(launch, options)
  options.signal?.addEventListener('abort', () => void server.stop(), { once: true })
  return server
}

function launchServer(
  options: NatsServerOptions,
  place: { dataDir: string; host: string; port: number; configFile: string },
): Launch {
  const { dataDir, host, port, configFile } = place
  const binary = options.binary ?? findNatsServer()
  const name = `causeway-${randomBytes(6).toString('hex')}`
  const logFile = resolve(options.logFile ?? join(dataDir, 'nats-server.log'))
  const config = renderNatsConfig({
    name,
    host,
    port,
    storeDir: dataDir,
    runDir: dataDir,
    logFile,
    syncInterval: options.syncInterval ?? '10s',
    version: binary.version,
    ...(options.token === undefined ? {} : { token: options.token }),
  })
  writeFileSync(configFile, config, { mode: 0o600 })
  const log = openSync(logFile, 'a')
  const logStart = fstatSync(log).size
  // What it says before it has read where its log is goes there too. In a group of its own, so that Ctrl-C does not
  // reach it before those that still need it.
  const child = spawn(binary.path, ['-c', configFile], {
    env: { GOGC: GARBAGE_PERCENT, ...process.env },
    stdio: ['ignore', log, log],
    detached: true,
  })
  closeSync(log)
  const exited: NatsServer['exited'] = new Promise((done) => {
    child.once('exit', (code, signal) => done({ code, signal }))
    child.once('error', () => done({ code: -1, signal: null }))
  })
  return { name, child, exited, dataDir, host, port, logFile, logStart }
}

async function untilReady(launch: Launch, options: NatsServerOptions): Promise<NatsServer> {
  const { child, exited, host, logFile } = launch
  const deadline = systemClock.now() + (options.startTimeoutMs ?? 60_000)
  let hasEnded = false
  void exited.then(() => {
    hasEnded = true
  })
  while (!hasEnded && systemClock.now() < deadline && options.signal?.aborted !== true) {
    const port = launch.port === 0 ? chosenPort(launch.dataDir, child.pid) : launch.port
    if (port !== undefined && (await serverNameAt(host, port)) === launch.name)
      return running({ child, exited, host, port, logFile })
    await systemClock.sleep(pollMs)
  }
  child.kill('SIGKILL')
  options.signal?.throwIfAborted()
  throw startFailure(launch)
}

function startFailure({ host, port, logFile, logStart }: Launch): BusError {
  const logged = readFileSync(logFile).subarray(logStart).toString().trim()
  if (/address already in use/i.test(logged)) return portTaken(host, port)
  const end = logged.split('\n').slice(-8).join('\n')
  return new BusError(`nats-server did not start; the end of ${logFile}:\n${end}`, { code: 'NatsServerFailed' })
}

function running(
  parts: Pick<NatsServer, 'exited' | 'port' | 'logFile'> & { child: ChildProcess; host: string },
): NatsServer {
  const { child, exited, host, port, logFile } = parts
  return {
    url: `nats://${host}:${port}`,
    port,
    process: child,
    logFile,
    exited,
    stop: async (timeoutMs = 30_000) => {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
      await exited
      clearTimeout(timer)
    },
  }
}

function portTaken(host: string, port: number): BusError {
  return new BusError(
    `port ${port} on ${host} is taken by another program (perhaps another "causeway up" or nats-server). ` +
      'Stop it, or choose another port.',
    { code: 'PortTaken' },
  )
}

/** Ends a server that a run of ours which was killed has left running on the same configuration. */
async function endLeftover(file: string, configFile: string): Promise<void> {
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').trim()) : 0
  if (pid > 1 && commandOf(pid).includes(configFile)) {
    process.kill(pid, 'SIGTERM')
    for (let waited = 0; commandOf(pid).includes(configFile); waited += 1) {
      if (waited === 150) process.kill(pid, 'SIGKILL')
      await systemClock.sleep(100)
    }
  }
  for (const name of readdirSync(dirname(file)))
    if (/^nats-server(_\d+\.ports|\.pid)$/.test(name)) rmSync(join(dirname(file), name), { force: true })
}

/** The command line of a process; empty when there is none of that id, or when it is dead and not yet collected. */
function commandOf(pid: number): string {
  try {
    if (existsSync('/proc/self/cmdline')) return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' })
  } catch {
    return ''
  }
}

function chosenPort(runDir: string, pid: number | undefined): number | undefined {
  try {
    const ports = JSON.parse(readFileSync(join(runDir, `nats-server_${pid}.ports`), 'utf8')) as { nats?: string[] }
    const port = Number(new URL(ports.nats?.[0] ?? '').port)
    return port > 0 ? port : undefined
  } catch {
    return undefined
  }
}

function isPortOpen(host: string, port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connectTcp({ host, port, timeout: 1_000 })
    const finish = (open: boolean): void => {
      socket.destroy()
      done(open)
    }
    socket.once('connect', () => finish(true))
    socket.once('timeout', () => finish(false))
    socket.once('error', () => finish(false))
  })
}

/** A NATS server greets each client with its name. Undefined when nobody answers, or something else does. */
function serverNameAt(host: string, port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const socket = connectTcp({ host, port, timeout: 1_000 })
    let received = ''
    const finish = (name: string | undefined): void => {
      socket.destroy()
      done(name)
    }
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      received += String(chunk)
      if (received.includes('\r\n')) finish(/"server_name":"([^"]*)"/.exec(received)?.[1])
    })
    for (const event of ['timeout', 'error', 'close'] as const) socket.once(event, () => finish(undefined))
  })
}
