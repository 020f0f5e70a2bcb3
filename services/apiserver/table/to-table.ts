import type { Json, JsonObject, KubeObject } from '#libs/kube-model'

import type { ApiResource, TableColumn } from '../discovery/resources.ts'
import { asString, at } from '../schema/json-shape.ts'
import { ageOf } from './age.ts'
import type { Cells } from './cell.ts'
import { CLUSTER_CELLS } from './cluster-cells.ts'
import { columnDescription } from './column-description.ts'
import { NETWORK_CELLS } from './network-cells.ts'
import { podCells } from './pod-cells.ts'
import { WORKLOAD_CELLS } from './workload-cells.ts'

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables */
export type Table = {
  kind: 'Table'
  apiVersion: 'meta.k8s.io/v1'
  metadata: JsonObject
  columnDefinitions: (TableColumn & { description: string })[]
  rows: { cells: Json[]; conditions?: JsonObject[]; object: object | null }[]
}

export type TableOptions = {
  /** What a row carries of its object. */
  includeObject: 'Metadata' | 'Object' | 'None'
  /** Metadata of the list. */
  metadata?: JsonObject
  /** The time that ages count to, in milliseconds. @default the current time */
  now?: number
}

const CELLS: Record<string, Cells> = { pods: podCells, ...WORKLOAD_CELLS, ...NETWORK_CELLS, ...CLUSTER_CELLS }

const DEFAULT_COLUMNS: readonly TableColumn[] = [
  { name: 'Name', type: 'string', format: 'name', priority: 0 },
  { name: 'Age', type: 'string', format: '', priority: 0 },
]

/** Objects of one resource as a Table, with the columns and cells that `kubectl get` shows. */
export function toTable(resource: ApiResource, objects: readonly KubeObject[], options: TableOptions): Table {
  const columns = resource.columns ?? DEFAULT_COLUMNS
  const cells = resource.custom?.cells ?? CELLS[resource.token] ?? plainCells(columns)
  const now = options.now ?? Date.now()
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.metadata ?? {},
    columnDefinitions: columns.map((column) => ({
      name: column.name,
      type: column.type,
      format: column.format,
      description: column.description ?? columnDescription(resource.token, column.name),
      priority: column.priority,
    })),
    rows: objects.map((object) => ({
      cells: cells(object, now),
      ...(resource.token === 'pods' ? completedCondition(object) : {}),
      object: rowObject(object, options.includeObject),
    })),
  }
}

const COMPLETED: Record<string, string> = {
  Succeeded: 'The pod has completed successfully.',
  Failed: 'The pod failed.',
}

/** Tells clients that hide finished pods that this one is. */
function completedCondition(pod: KubeObject): { conditions?: JsonObject[] } {
  const phase = asString(at(pod, 'status', 'phase'))
  const message = COMPLETED[phase]
  return message === undefined ? {} : { conditions: [{ type: 'Completed', status: 'True', reason: phase, message }] }
}

/** Name and age; other columns stay empty. */
function plainCells(columns: readonly TableColumn[]): Cells {
  return (object, now) =>
    columns.map(({ name, type }) => {
      if (name === 'Name') return object.metadata.name ?? ''
      if (name === 'Age') return ageOf(object.metadata.creationTimestamp, now)
      if (name === 'Created At') return object.metadata.creationTimestamp ?? ''
      return type === 'integer' ? 0 : type === 'boolean' ? false : ''
    })
}

function rowObject(object: KubeObject, include: TableOptions['includeObject']): object | null {
  if (include === 'None') return null
  if (include === 'Object') return object
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata }
}
