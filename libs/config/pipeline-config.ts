import { hostname } from 'node:os'
import { ConfigError } from '#libs/kernel'
import { z } from 'zod'

/** Levels of logs, the most severe first. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const port = z.coerce.number().int().min(0).max(65535)

/** How many objects a tenant may lose within a minute before a live read must confirm that they are gone. */
export type DeletionLimits = {
  /** Of one kind, however few there are. */
  free: number
  /** Of one kind, as a share of its objects; the larger of the two counts. */
  share: number
  /** Of all kinds together. */
  perMinute: number
}

/** The limits where nothing is set. */
export const DEFAULT_DELETION_LIMITS: DeletionLimits = { free: 20, share: 0.5, perMinute: 1_000 }

/** How many changes of a tenant may be on their way to its translator, where nothing is set. */
export const DEFAULT_TENANT_WINDOW = 512

/** Settings of the pipeline's services, from the environment (12-factor). */
const schema = z.object({
  CAUSEWAY_NATS_URL: z
    .string()
    .regex(/^(nats|tls):\/\//, 'must be nats://HOST:PORT or tls://HOST:PORT')
    .default('nats://127.0.0.1:4222')
    .describe('NATS server'),
  CAUSEWAY_PARTITIONS: z.coerce
    .number()
    .int()
    .min(1)
    .max(1024)
    .default(8)
    .describe('Number of partitions, fixed at installation'),
  CAUSEWAY_REPLICAS: z.coerce.number().int().min(1).max(5).default(1).describe('Copies of each log message'),
  CAUSEWAY_DATA_DIR: z.string().min(1).default('.causeway/services').describe('Folder of the projections'),
  CAUSEWAY_KEY_RING_FILE: z
    .string()
    .min(1)
    .default('.causeway/keys.json')
    .describe('Key ring that Secrets are sealed with'),
  CAUSEWAY_INSTANCE: z
    .string()
    .regex(/^[a-zA-Z0-9_-]+$/, 'must consist of letters, digits, - and _')
    .default(`${hostname().replace(/[^a-zA-Z0-9_-]/g, '-')}-${process.pid}`)
    .describe('Name of this process among the members'),
  CAUSEWAY_LEASE_TTL_SECONDS: z.coerce
    .number()
    .min(1)
    .max(60)
    .default(5)
    .describe('Time after which the work of a dead process is taken over'),
  CAUSEWAY_DELETIONS_FREE: z.coerce
    .number()
    .int()
    .min(1)
    .default(DEFAULT_DELETION_LIMITS.free)
    .describe('Objects of a kind that a tenant may lose within a minute before a live read must confirm it'),
  CAUSEWAY_DELETIONS_SHARE: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(DEFAULT_DELETION_LIMITS.share)
    .describe('The same as a share of the objects of the kind; the larger of the two counts'),
  CAUSEWAY_DELETIONS_PER_MINUTE: z.coerce
    .number()
    .int()
    .min(1)
    .default(DEFAULT_DELETION_LIMITS.perMinute)
    .describe('The same over all kinds of a tenant, however many objects it has'),
  CAUSEWAY_PATROL_SECONDS: z.coerce
    .number()
    .min(1)
    .max(86_400)
    .default(600)
    .describe('Time between two looks at every object, whether or not a change told of it'),
  CAUSEWAY_VERIFY_SECONDS: z.coerce
    .number()
    .min(1)
    .max(86_400)
    .default(3_600)
    .describe('Time between two lists of a kind, that what is known is compared with'),
  CAUSEWAY_TENANT_WINDOW: z.coerce
    .number()
    .int()
    .min(1)
    .default(DEFAULT_TENANT_WINDOW)
    .describe('Changes of a tenant that may be on their way to its translator; of what exceeds them, the newest waits'),
  CAUSEWAY_TRACE_SLOW_SECONDS: z.coerce
    .number()
    .min(0.001)
    .max(86_400)
    .default(5)
    .describe('A sync that takes longer is traced whatever the sampling says, where there is an OTLP endpoint'),
  CAUSEWAY_HTTP_HOST: z.string().min(1).default('127.0.0.1').describe('Address of /livez, /readyz and /metrics'),
  CAUSEWAY_HTTP_PORT: port.default(0).describe('Port of /livez, /readyz and /metrics; 0 takes a free one'),
  CAUSEWAY_LOG_LEVEL: z.enum(LOG_LEVELS).default('info').describe('Least level that is logged'),
  CAUSEWAY_LOG_FILE: z.string().optional().describe('File to log to instead of standard output'),
})

/** See the schema for the meaning of each field. */
export type PipelineConfig = {
  natsUrl: string
  partitions: number
  replicas: number
  dataDir: string
  keyRingFile: string
  instance: string
  leaseTtlMs: number
  /** @default those of the schema */
  deletions?: DeletionLimits
  /** @default that of the schema */
  patrolEveryMs?: number
  /** @default that of the schema */
  verifyEveryMs?: number
  /** @default that of the schema */
  tenantWindow?: number
  /** @default that of the schema */
  traceSlowMs?: number
  http: { host: string; port: number }
  log: { level: string; file?: string }
}

/**
 * Reads the settings from environment variables.
 * @throws ConfigError with every problem, each naming its variable
 */
export function parsePipelineConfig(env: Record<string, string | undefined>): PipelineConfig {
  const given = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => name.startsWith('CAUSEWAY_') && value !== ''),
  )
  const unknown = Object.keys(given).filter((name) => !(name in schema.shape))
  const parsed = schema.safeParse(given)
  const problems = [
    ...unknown.map((name) => `${name}: unknown setting; known are ${Object.keys(schema.shape).join(', ')}`),
    ...(parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)),
  ]
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems)
  const settings = parsed.data
  return {
    natsUrl: settings.CAUSEWAY_NATS_URL,
    partitions: settings.CAUSEWAY_PARTITIONS,
    replicas: settings.CAUSEWAY_REPLICAS,
    dataDir: settings.CAUSEWAY_DATA_DIR,
    keyRingFile: settings.CAUSEWAY_KEY_RING_FILE,
    instance: settings.CAUSEWAY_INSTANCE,
    leaseTtlMs: settings.CAUSEWAY_LEASE_TTL_SECONDS * 1_000,
    deletions: {
      free: settings.CAUSEWAY_DELETIONS_FREE,
      share: settings.CAUSEWAY_DELETIONS_SHARE,
      perMinute: settings.CAUSEWAY_DELETIONS_PER_MINUTE,
    },
    patrolEveryMs: settings.CAUSEWAY_PATROL_SECONDS * 1_000,
    verifyEveryMs: settings.CAUSEWAY_VERIFY_SECONDS * 1_000,
    tenantWindow: settings.CAUSEWAY_TENANT_WINDOW,
    traceSlowMs: settings.CAUSEWAY_TRACE_SLOW_SECONDS * 1_000,
    http: { host: settings.CAUSEWAY_HTTP_HOST, port: settings.CAUSEWAY_HTTP_PORT },
    log: {
      level: settings.CAUSEWAY_LOG_LEVEL,
      ...(settings.CAUSEWAY_LOG_FILE === undefined ? {} : { file: settings.CAUSEWAY_LOG_FILE }),
    },
  }
}

/** The settings as environment variables: how one process hands them to another. */
export function pipelineEnv(config: PipelineConfig): Record<string, string> {
  return {
    CAUSEWAY_NATS_URL: config.natsUrl,
    CAUSEWAY_PARTITIONS: String(config.partitions),
    CAUSEWAY_REPLICAS: String(config.replicas),
    CAUSEWAY_DATA_DIR: config.dataDir,
    CAUSEWAY_KEY_RING_FILE: config.keyRingFile,
    CAUSEWAY_LEASE_TTL_SECONDS: String(config.leaseTtlMs / 1_000),
    ...(config.deletions === undefined
      ? {}
      : {
          CAUSEWAY_DELETIONS_FREE: String(config.deletions.free),
          CAUSEWAY_DELETIONS_SHARE: String(config.deletions.share),
          CAUSEWAY_DELETIONS_PER_MINUTE: String(config.deletions.perMinute),
        }),
    ...(config.patrolEveryMs === undefined ? {} : { CAUSEWAY_PATROL_SECONDS: String(config.patrolEveryMs / 1_000) }),
    ...(config.verifyEveryMs === undefined ? {} : { CAUSEWAY_VERIFY_SECONDS: String(config.verifyEveryMs / 1_000) }),
    ...(config.tenantWindow === undefined ? {} : { CAUSEWAY_TENANT_WINDOW: String(config.tenantWindow) }),
    ...(config.traceSlowMs === undefined ? {} : { CAUSEWAY_TRACE_SLOW_SECONDS: String(config.traceSlowMs / 1_000) }),
    CAUSEWAY_HTTP_HOST: config.http.host,
    CAUSEWAY_HTTP_PORT: String(config.http.port),
    CAUSEWAY_LOG_LEVEL: config.log.level,
    ...(config.log.file === undefined ? {} : { CAUSEWAY_LOG_FILE: config.log.file }),
  }
}
