import type { Outcome } from '#libs/events'
import type { KubeObject } from '#libs/kube-model'
import { displayName } from '#libs/kube-model'

/** One tenant object with its host copy, as far as it is known. */
export type SyncRow = {
  tenant: string
  object: string
  hostName: string
  phase: string
  node: string
  /** Milliseconds of the last create: watch → log, decide, log → writer, queue, API. */
  stages: { watch: number; decide: number; log: number; queue: number; api: number } | undefined
  note: string
}

/** Rows that are kept: pods come and go for as long as the table stands. */
const ROWS_LIMIT = 2_000

export type SyncRowsOptions = {
  /** Where the host copy of a tenant's pod is. */
  hostCopyOf(tenant: string, ref: { namespace: string; name: string }): string
  /** Called with each row that changed. */
  onChange(row: SyncRow): void
}

/** The rows of the table, in the order in which the objects were first seen. */
export class SyncRows {
  readonly #rows = new Map<string, SyncRow>()
  /** Those of pods that are gone, by when they went. */
  readonly #gone = new Set<string>()
  readonly #options: SyncRowsOptions

  constructor(options: SyncRowsOptions) {
    this.#options = options
  }

  all(): SyncRow[] {
    return [...this.#rows.values()]
  }

  /** Takes the outcome of a write in. */
  outcome(outcome: Outcome): void {
    const { target, source, op, stages } = outcome
    if (op === 'announce' || source.resource === 'nodes') return
    const row = this.#row(target.tenant, source.resource, source)
    if (outcome.result === 'parked' || outcome.result === 'refused') row.note = outcome.reason ?? outcome.result
    if (outcome.result !== 'done') return this.#changed(row)
    if (target.side === 'host') row.note = op === 'delete' ? 'deleted on the host' : ''
    if (target.side === 'host' && op === 'create') {
      row.hostName = displayName(target)
      row.stages = {
        watch: stages.loggedAt - stages.observedAt,
        decide: stages.decidedAt - stages.loggedAt,
        log: stages.intentAt - stages.decidedAt,
        queue: stages.startedAt - stages.intentAt,
        api: stages.finishedAt - stages.startedAt,
      }
    }
    this.#changed(row)
  }

  /** Takes the state of a tenant's pod in; `undefined` when it is gone. */
  pod(tenant: string, pod: KubeObject, gone: boolean): void {
    const { namespace = '', name = '' } = pod.metadata
    const row = this.#row(tenant, 'pods', { namespace, name })
    const before = `${row.phase}/${row.node}`
    row.phase = gone ? 'gone' : phaseOf(pod)
    const id = idOf(row)
    if (gone) this.#gone.add(id)
    else this.#gone.delete(id)
    row.node = (pod.spec as { nodeName?: string } | undefined)?.nodeName ?? ''
    // A pod has a node here only once its copy has one.
    if (row.node !== '') row.hostName = this.#options.hostCopyOf(tenant, { namespace, name })
    if (`${row.phase}/${row.node}` !== before) this.#changed(row)
  }

  #row(tenant: string, resource: string, ref: { namespace: string; name: string }): SyncRow {
    const object = `${KIND_NAMES[resource] ?? resource}/${displayName(ref)}`
    const id = idOf({ tenant, object })
    let row = this.#rows.get(id)
    if (row === undefined) {
      row = { tenant, object, hostName: '', phase: '', node: '', stages: undefined, note: '' }
      this.#rows.set(id, row)
      if (this.#rows.size > ROWS_LIMIT) this.#dropOldest()
    }
    return row
  }

  /** Of those that are gone, if there are any. */
  #dropOldest(): void {
    const [oldest = ''] = this.#gone.size > 0 ? this.#gone : this.#rows.keys()
    this.#gone.delete(oldest)
    this.#rows.delete(oldest)
  }

  #changed(row: SyncRow): void {
    this.#options.onChange(row)
  }
}

const idOf = ({ tenant, object }: Pick<SyncRow, 'tenant' | 'object'>): string => `${tenant} ${object}`

const KIND_NAMES: Record<string, string> = {
  pods: 'pod',
  configmaps: 'configmap',
  secrets: 'secret',
  services: 'service',
}

function phaseOf(pod: KubeObject): string {
  const status = pod.status as { phase?: string } | undefined
  return pod.metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating'
}
