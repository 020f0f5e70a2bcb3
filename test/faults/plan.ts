import type { ProxyFault } from './proxy-fault.ts'
import { type Random, createRandom } from './random.ts'
import { type Work, planWork } from './workload.ts'

/** Kinds of faults, as `--faults` names them. */
export const FAULT_CLASSES = [
  'kill',
  'kill-all',
  'kill-nats',
  'kill-api',
  'pause',
  'pause-nats',
  'pause-api',
  'disk-full',
  'store-lost',
  'gone',
  'too-many-requests',
  'server-error',
  'slow',
  'silent',
  'reset',
  'truncate',
  'empty-list',
  'token',
  'certificate',
  'clock',
] as const
export type FaultClass = (typeof FAULT_CLASSES)[number]

export const ROLES = ['watcher', 'translator', 'writer'] as const
export type RoleName = (typeof ROLES)[number]
export type ApiName = 'host' | 'tenants'

/** Something that breaks. `cluster` is a tenant or `host`; a `rival` is the second process of a role, where there is one. */
export type Fault =
  | { kind: 'kill'; process: RoleName | 'nats' | ApiName | 'all'; rival: boolean }
  /** SIGSTOP, and SIGCONT when it is over. */
  | { kind: 'pause'; process: RoleName | 'nats' | ApiName; rival: boolean }
  | { kind: 'disk-full' }
  | { kind: 'store-lost' }
  | { kind: 'proxy'; cluster: string; fault: ProxyFault }
  | { kind: 'token'; cluster: string }
  | { kind: 'certificate'; cluster: string }
  | { kind: 'clock'; role: RoleName; offsetMs: number }

export type PlannedFault = { at: number; lastsMs: number; class: FaultClass; fault: Fault }

export type PlanOptions = {
  seed: number
  tenants: number
  pods: number
  /** How long work and faults go on after the first objects are made. */
  seconds: number
  /** @default all */
  classes?: readonly FaultClass[]
}

/** All that will be done, times in milliseconds from the beginning. The same options give the same plan. */
export type Plan = {
  options: PlanOptions
  tenants: string[]
  work: Work[]
  faults: PlannedFault[]
  /** When the last of it is over. */
  endsAt: number
}

const MIN_GAP_MS = 700
const MAX_GAP_MS = 2_500

export function planSchedule(options: PlanOptions): Plan {
  const random = createRandom(options.seed)
  const tenants = Array.from({ length: options.tenants }, (_, index) => `t${String(index).padStart(2, '0')}`)
  const { work, warmMs } = planWork(random.fork('work'), { ...options, tenants })
  const endsAt = warmMs + options.seconds * 1_000
  const faults = planFaults(random.fork('faults'), {
    tenants,
    classes: options.classes ?? FAULT_CLASSES,
    from: Math.round(warmMs / 2),
    to: endsAt,
  })
  return { options, tenants, work, faults, endsAt }
}

/** Faults follow one another with some overlap; every class comes once before any comes again. */
function planFaults(
  random: Random,
  options: { tenants: string[]; classes: readonly FaultClass[]; from: number; to: number },
): PlannedFault[] {
  const faults: PlannedFault[] = []
  let queue: FaultClass[] = []
  if (options.classes.length === 0) return faults
  const span = (options.to - options.from) / options.classes.length
  const gap = Math.min(1, span / MAX_GAP_MS)
  for (let at = options.from; at < options.to;) {
    if (queue.length === 0) queue = random.shuffled(options.classes)
    const next = queue.shift() as FaultClass
    const { fault, lastsMs } = faultOf(next, random, options.tenants)
    faults.push({ at: Math.round(at), lastsMs, class: next, fault })
    at += random.whole(MIN_GAP_MS, MAX_GAP_MS) * gap
  }
  return faults
}

function faultOf(kind: FaultClass, random: Random, tenants: string[]): { fault: Fault; lastsMs: number } {
  // The host is in every write; a tenant's API is one of many.
  const cluster = random.chance(0.5) ? 'host' : random.pick(tenants)
  const proxy = (fault: ProxyFault, lastsMs: number): { fault: Fault; lastsMs: number } => ({
    fault: { kind: 'proxy', cluster, fault },
    lastsMs,
  })
  const api = (): ApiName => random.pick(['host', 'tenants'])
  switch (kind) {
    case 'kill':
      return { fault: { kind: 'kill', process: random.pick(ROLES), rival: random.chance(0.5) }, lastsMs: 0 }
    case 'kill-all':
      return { fault: { kind: 'kill', process: 'all', rival: false }, lastsMs: 0 }
    case 'kill-nats':
      return { fault: { kind: 'kill', process: 'nats', rival: false }, lastsMs: 0 }
    case 'kill-api':
      return { fault: { kind: 'kill', process: api(), rival: false }, lastsMs: random.whole(0, 2_000) }
    case 'pause':
      // On both sides of the lease's five seconds.
      return {
        fault: { kind: 'pause', process: random.pick(ROLES), rival: random.chance(0.5) },
        lastsMs: random.whole(500, 8_000),
      }
    case 'pause-nats':
      return { fault: { kind: 'pause', process: 'nats', rival: false }, lastsMs: random.whole(500, 6_000) }
    case 'pause-api':
      return { fault: { kind: 'pause', process: api(), rival: false }, lastsMs: random.whole(500, 5_000) }
    case 'disk-full':
      return { fault: { kind: 'disk-full' }, lastsMs: random.whole(1_000, 4_000) }
    case 'store-lost':
      return { fault: { kind: 'store-lost' }, lastsMs: random.whole(0, 3_000) }
    case 'gone':
      return proxy({ kind: 'gone', inStream: random.chance(0.5) }, random.whole(100, 2_000))
    case 'too-many-requests':
      return proxy({ kind: 'refuse', status: 429, share: random.pick([0.3, 0.7, 1]) }, random.whole(500, 3_000))
    case 'server-error': {
      const status = random.pick([500, 502, 503] as const)
      return proxy({ kind: 'refuse', status, share: random.pick([0.3, 0.7, 1]) }, random.whole(500, 3_000))
    }
    case 'slow':
      return proxy({ kind: 'slow', ms: random.whole(50, 1_500) }, random.whole(1_000, 4_000))
    case 'silent':
      return proxy({ kind: 'silent' }, random.whole(500, 5_000))
    case 'reset': {
      const after = random.chance(0.7)
      return proxy({ kind: 'reset', share: random.pick([0.1, 0.5, 1]), after }, random.whole(500, 3_000))
    }
    case 'truncate':
      return proxy({ kind: 'truncate' }, random.whole(500, 3_000))
    case 'empty-list':
      return proxy({ kind: 'empty-list' }, random.whole(300, 3_000))
    case 'token':
      return { fault: { kind: 'token', cluster }, lastsMs: 0 }
    case 'certificate':
      return { fault: { kind: 'certificate', cluster }, lastsMs: 0 }
    case 'clock': {
      const offsetMs = random.pick([-3_600_000, -30_000, 30_000, 3_600_000])
      return { fault: { kind: 'clock', role: random.pick(ROLES), offsetMs }, lastsMs: random.whole(1_000, 5_000) }
    }
  }
}

/** One line for people. */
export function describeFault({ fault, lastsMs }: PlannedFault): string {
  const { kind, ...rest } = fault
  const parts = Object.values(rest).map((value) => (typeof value === 'object' ? JSON.stringify(value) : String(value)))
  return `${kind} ${parts.join(' ')}${lastsMs === 0 ? '' : ` for ${String(lastsMs)} ms`}`
}
