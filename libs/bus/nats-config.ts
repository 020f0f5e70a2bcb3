import { isAtLeast } from '../../deploy/lib/versions.mjs'

export type NatsConfig = {
  name: string
  host: string
  /** 0 lets the system choose. */
  port: number
  /** Folder of the streams. */
  storeDir: string
  /** Folder of the pid file and of the file that says which port was chosen. */
  runDir: string
  logFile: string
  /** How often written data is forced to disk: `always`, or a time such as `10s`. */
  syncInterval: string
  /** Shared secret that clients must give. */
  token?: string
  /** Version of the server that will read it. */
  version: string
}

/** Configuration of a nats-server that serves one machine. */
export function renderNatsConfig(config: NatsConfig): string {
  const lines = [
    `server_name: ${JSON.stringify(config.name)}`,
    `listen: ${JSON.stringify(`${config.host}:${config.port === 0 ? -1 : config.port}`)}`,
    // An object may have 1.5 MiB in the API server, and more on the way.
    'max_payload: 8MB',
    'max_pending: 128MB',
    `pid_file: ${JSON.stringify(pidFile(config.runDir))}`,
    `ports_file_dir: ${JSON.stringify(config.runDir)}`,
    `log_file: ${JSON.stringify(config.logFile)}`,
    'logfile_size_limit: 16MB',
    'logfile_max_num: 4',
    'jetstream {',
    `  store_dir: ${JSON.stringify(config.storeDir)}`,
    `  sync_interval: ${JSON.stringify(config.syncInterval)}`,
    // Each stream has its own limit. The server's would refuse them all on a disk that is filled by half.
    '  max_file_store: 1TB',
    // Since 2.15 a stream has 1000 consumers at most unless told otherwise; readers and watchers count.
    ...(isAtLeast(config.version, '2.15.0') ? ['  limits { default_max_consumers: -1 }'] : []),
    '}',
    ...(config.token === undefined ? [] : [`authorization { token: ${JSON.stringify(config.token)} }`]),
  ]
  return `${lines.join('\n')}\n`
}

export function pidFile(runDir: string): string {
  return `${runDir}/nats-server.pid`
}
