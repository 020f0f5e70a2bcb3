import { z } from 'zod'

/** What the API answers: the schemas are its documentation, what the page relies on, and what the tests check. */

const time = z.number().describe('milliseconds since the epoch')
const milliseconds = z.number().describe('milliseconds')
const side = z.enum(['virtual', 'host'])
const counts = z.record(z.string(), z.number()).describe('how many objects, by reason')

export const STAGE_NAMES = ['watch', 'decide', 'log', 'queue', 'api', 'total'] as const
const stage = z.enum(STAGE_NAMES).describe('a stage of a sync, in order; total is all of them')

const quantiles = z.strictObject({
  stage,
  count: z.number(),
  p50: milliseconds.nullable(),
  p95: milliseconds.nullable(),
  p99: milliseconds.nullable(),
})

const objectRef = z.strictObject({ resource: z.string(), namespace: z.string(), name: z.string() })

const slowSync = z.strictObject({ tenant: z.string(), ...objectRef.shape, op: z.string(), at: time, ms: milliseconds })

const latency = z.strictObject({
  now: z.array(quantiles).describe('over the last five minutes'),
  hour: z.array(quantiles).describe('over the last hour'),
  from: time.describe('when the first minute below begins'),
  p95: z
    .array(z.strictObject({ stage, minutes: z.array(milliseconds.nullable()) }))
    .describe('a value for each minute'),
  counts: z.array(z.number()).describe('syncs in each minute'),
  slowest: z.array(slowSync).describe('the slowest syncs of the hour'),
  isComplete: z.boolean().describe('whether the log of the last hour has been read up to now'),
})

const backlog = z.strictObject({ behind: z.number(), since: time.optional() })

const partitionLag = z.strictObject({
  partition: z.number(),
  owners: z.record(z.string(), z.string()).describe('who works on it, by role'),
  translator: backlog,
  writer: backlog,
})

const apiState = z.strictObject({ state: z.string(), message: z.string(), since: z.string().optional() })

export const fleet = z.strictObject({
  at: time,
  isOperator: z.boolean().describe('whether the console takes an operator token'),
  host: apiState,
  tenants: z.strictObject({
    total: z.number(),
    byState: z.record(z.string(), z.number()),
    waiting: z.number().describe('tenants of which something waits'),
    held: z.number().describe('tenants whose deletions are stopped'),
  }),
  waiting: counts,
  latency,
  partitions: z.array(partitionLag),
  watcherHost: z.string().optional().describe('who watches the host'),
})

const tenantRow = z.strictObject({
  name: z.string(),
  hostNamespace: z.string(),
  partition: z.number(),
  state: z.string(),
  message: z.string(),
  waiting: z.number(),
  isHeld: z.boolean(),
  syncs: z.array(z.number()).describe('in each minute of the last hour'),
  meanMs: milliseconds.nullable().describe('mean time of a sync over the last hour'),
})

export const tenantPage = z.strictObject({ total: z.number(), offset: z.number(), items: z.array(tenantRow) })

export const tenantView = z.strictObject({
  ...tenantRow.shape,
  since: z.string().optional(),
  counts,
  hold: z
    .strictObject({
      since: time,
      side,
      resource: z.string(),
      waiting: z.number(),
      contradiction: z.string().optional(),
    })
    .optional(),
  meansMs: z.array(milliseconds.nullable()).describe('mean time of a sync in each minute of the last hour'),
  from: time.describe('when the first of these minutes begins'),
  config: z.record(z.string(), z.unknown()).describe('as it is registered'),
})

const foundObject = z.strictObject({
  tenant: z.string(),
  side,
  ...objectRef.shape,
  kind: z.string(),
  isDeleted: z.boolean(),
  at: time.describe('when its last state was stored'),
})

export const foundPage = z.strictObject({
  total: z.number(),
  offset: z.number(),
  isCut: z.boolean().describe('whether there may be more: not all tenants were looked through'),
  items: z.array(foundObject),
})

export const asOfPage = z.strictObject({
  at: time,
  total: z.number(),
  offset: z.number(),
  isCut: z.boolean().describe('whether the log no longer reaches back to then: what it lost may be missing'),
  items: z.array(foundObject),
})

export const waitingPage = z.strictObject({
  total: z.number().describe('all that waits, with or without a reason chosen'),
  next: z.string().optional().describe('where the next page begins'),
  items: z.array(
    z.strictObject({ tenant: z.string(), ...objectRef.shape, reason: z.string(), remedy: z.string(), since: time }),
  ),
})

const sideState = z.strictObject({
  name: z.string(),
  namespace: z.string(),
  yaml: z.string().optional().describe('absent where it was not there; of Secrets lengths and fingerprints'),
  at: time.optional(),
  isDeleted: z.boolean(),
})

export const sides = z.strictObject({ at: time, virtual: sideState, host: sideState })

export const story = z.strictObject({
  isCut: z.boolean().describe('whether the history no longer reaches back to the beginning'),
  entries: z.array(
    z.looseObject({ kind: z.enum(['change', 'intent', 'outcome', 'unreadable']), at: time, seq: z.number() }),
  ),
})

const verdict = z.strictObject({
  reason: z.string(),
  summary: z.string(),
  remedy: z.string().optional(),
  isInSync: z.union([z.boolean(), z.literal('unknown')]),
})

export const explanation = z.strictObject({ verdict, facts: z.looseObject({}) })

export const hostExplanation = z.strictObject({
  verdict,
  owner: z.strictObject({ tenant: z.string(), ref: objectRef, by: z.string() }).optional(),
})

const bar = z.strictObject({
  id: z.string(),
  depth: z.number(),
  service: z.string(),
  name: z.string(),
  start: time,
  end: time,
  isError: z.boolean(),
  message: z.string().optional(),
})

export const trace = z.strictObject({
  traces: z.array(z.strictObject({ traceId: z.string(), start: time, end: time, bars: z.array(bar) })),
})

export const retried = z.strictObject({ tried: z.number().describe('objects that are tried now') })

export type StageName = z.infer<typeof stage>
export type SlowSync = z.infer<typeof slowSync>
export type LatencyView = z.infer<typeof latency>
export type PartitionLag = z.infer<typeof partitionLag>
export type FleetView = z.infer<typeof fleet>
export type TenantRow = z.infer<typeof tenantRow>
export type TenantPage = z.infer<typeof tenantPage>
export type TenantView = z.infer<typeof tenantView>
export type FoundObject = z.infer<typeof foundObject>
export type FoundPage = z.infer<typeof foundPage>
export type AsOfPage = z.infer<typeof asOfPage>
export type WaitingPage = z.infer<typeof waitingPage>
export type SideState = z.infer<typeof sideState>
export type SidesView = z.infer<typeof sides>
export type TraceView = z.infer<typeof trace>
export type Bar = z.infer<typeof bar>
export type ObjectName = z.infer<typeof objectRef>
