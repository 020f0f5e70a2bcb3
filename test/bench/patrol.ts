import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { systemClock } from '#libs/kernel'
import type { KubeObject, ObjectRef } from '#libs/kube-model'
import { Projection } from '#libs/projection'
import { LogOfChanges } from '#libs/projection/testing'
import { createLogger } from '#libs/telemetry'
import { TENANT, objectOf, podOf } from '#libs/translation/testing'
import { createVault } from '#libs/vault'
import { Batch } from '../../services/translator/batch.ts'
import { KeyDecider } from '../../services/translator/key-decider.ts'
import { createTranslatorMetrics } from '../../services/translator/metrics.ts'
import { SWEEP_SLICE } from '../../services/translator/rounds.ts'
import { Sweeps } from '../../services/translator/sweeps.ts'
import { median } from './statistics.ts'
import { table } from './table.ts'

/** One complete patrol. */
export type PatrolRun = { cpuMs: number; wallMs: number; longestSliceMs: number; keys: number; found: number }

const cause = { seq: 1, observedAt: 1, loggedAt: 1 }

/**
 * What it costs to decide about every object again at rest: a projection of one tenant, half of its objects pods that
 * each mount a ConfigMap of their own, both sides in agreement; no process but this one takes part.
 * @param of.objects objects of the tenant
 */
export async function patrolAtRest(of: { objects: number; repeat: number }): Promise<PatrolRun[]> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-patrol-'))
  const projection = openProjection(join(folder, 'p.sqlite'))
  try {
    const decider = decidingOn(projection)
    fill({ projection, decider, pods: Math.floor(of.objects / 2) })
    projection.commit()
    // The first one settles what the filling left open, and warms up.
    for (let round = 0; round < 3; round++) await patrol(projection, decider)
    const runs: PatrolRun[] = []
    for (let run = 0; run < of.repeat; run++) runs.push(await patrol(projection, decider))
    return runs
  } finally {
    projection.close()
    rmSync(folder, { recursive: true })
  }
}

export function reportPatrol(runs: readonly PatrolRun[]): string {
  const cell = (pick: (run: PatrolRun) => number): number => median(runs.map(pick))
  return table(
    ['patrol at rest, medians', 'objects', 'CPU, ms', 'wall, ms', 'longest slice, ms', 'found'],
    [
      [
        'every object decided about again',
        cell(({ keys }) => keys),
        cell(({ cpuMs }) => cpuMs),
        cell(({ wallMs }) => wallMs),
        cell(({ longestSliceMs }) => longestSliceMs),
        cell(({ found }) => found),
      ],
    ],
  )
}

const vault = createVault({ active: 'k1', keys: new Map([['k1', Buffer.alloc(32, 7)]]) })

function openProjection(path: string): Projection {
  const projection = new Projection({
    path,
    vault,
    hostNamespaceOf: () => TENANT.hostNamespace,
    contextOf: () => TENANT,
  })
  projection.bindTenant(TENANT.name, 't1')
  return projection
}

function decidingOn(projection: Projection): KeyDecider {
  return new KeyDecider({
    fence: 1,
    projection,
    vault,
    clock: systemClock,
    random: Math.random,
    logger: createLogger({ service: 'bench', level: 'silent' }),
    metrics: createTranslatorMetrics(new Registry()),
    guard: { admit: (_tenant, _key, decision) => decision, settled: () => [] },
    tenant: () => TENANT,
  })
}

/** Pods and ConfigMaps of the tenant, each with the copy that follows from it. */
function fill(of: { projection: Projection; decider: KeyDecider; pods: number }): void {
  const { projection, decider, pods } = of
  const log = new LogOfChanges()
  const put = (ref: ObjectRef, object: KubeObject): void => {
    projection.fold(log.change('ADDED', { tenant: TENANT.name, side: 'virtual', ...ref }, object))
  }
  const refs = Array.from({ length: pods }, (_, index) => {
    const namespace = `n${index % 20}`
    const pod: ObjectRef = { resource: 'pods', namespace, name: `p${index}` }
    const config: ObjectRef = { resource: 'configmaps', namespace, name: `c${index}` }
    put(
      config,
      objectOf('ConfigMap', config.name, { data: { index: String(index) }, metadata: { namespace, uid: `c${index}` } }),
    )
    put(
      pod,
      podOf(pod.name, {
        metadata: { namespace, uid: `p${index}`, labels: { app: 'bench' } },
        spec: { containers: [{ name: 'main', image: 'bench', envFrom: [{ configMapRef: { name: config.name } }] }] },
      }),
    )
    return [config, pod]
  }).flat()
  for (const ref of refs) {
    for (const { write, target } of decider.decide({ tenant: TENANT.name, ref }, cause)) {
      if (write.op !== 'create') continue
      const body = { ...write.body, metadata: { ...write.body.metadata, uid: `h-${ref.resource}-${ref.name}` } }
      const change = log.change('ADDED', target, body)
      projection.fold(change)
      decider.saw(change)
    }
    for (const { slot } of projection.pending.of({ tenant: TENANT.name, ref }))
      projection.pending.delete({ tenant: TENANT.name, ref }, slot)
  }
}

/** As the translator does it: slice after slice, with room for live changes between two. */
async function patrol(projection: Projection, decider: KeyDecider): Promise<PatrolRun> {
  const sweeps = new Sweeps(projection)
  sweeps.add({ tenant: TENANT.name })
  const run: PatrolRun = { cpuMs: 0, wallMs: 0, longestSliceMs: 0, keys: 0, found: 0 }
  const before = process.cpuUsage()
  const begun = performance.now()
  while (!sweeps.isEmpty) {
    const sliceBegun = performance.now()
    const slice = new Batch()
    for (const key of sweeps.take(SWEEP_SLICE)) slice.add([key, ...projection.refreshReferences(key)], cause)
    for (const item of slice.inOrder()) {
      run.keys++
      run.found += decider.decide(item.key, item.cause).length
    }
    run.longestSliceMs = Math.max(run.longestSliceMs, performance.now() - sliceBegun)
    await new Promise((resolve) => setImmediate(resolve))
  }
  run.wallMs = performance.now() - begun
  const { user, system } = process.cpuUsage(before)
  run.cpuMs = (user + system) / 1_000
  return run
}
