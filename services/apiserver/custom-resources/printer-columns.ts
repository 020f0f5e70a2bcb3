import type { Json, KubeObject } from '#libs/kube-model'
import type { TableColumn } from '../discovery/resources.ts'
import { ageOf } from '../table/age.ts'
import type { Cells } from '../table/cell.ts'
import { valuesAt } from './json-path.ts'

/** https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#additional-printer-columns */
export type PrinterColumn = {
  name: string
  type: string
  jsonPath: string
  format?: string
  description?: string
  priority?: number
}

const AGE: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description:
    'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata',
}

const NAME: TableColumn = { name: 'Name', type: 'string', format: 'name', priority: 0 }

/** Columns and cells of a custom kind; without columns of its own it shows name and age. */
export function printerTable(own: readonly PrinterColumn[] | undefined): { columns: TableColumn[]; cells: Cells } {
  const printed = own === undefined || own.length === 0 ? [AGE] : own
  const columns = printed.map(({ name, type, jsonPath, format = '', description = '', priority = 0 }) => ({
    name,
    type,
    format,
    description:
      description === '' ? `Custom resource definition column (in JSONPath format): ${jsonPath}` : description,
    priority,
  }))
  return {
    columns: [NAME, ...columns],
    cells: (object, now) => [object.metadata.name ?? '', ...printed.map((column) => cellOf(column, object, now))],
  }
}

function cellOf({ type, jsonPath }: PrinterColumn, object: KubeObject, now: number): Json {
  const [value, ...more] = valuesAt(jsonPath, object) as Json[]
  if (value === undefined) return null
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return ageOf(value, now)
    default:
      return [value, ...more].map((item) => (typeof item === 'string' ? item : JSON.stringify(item))).join(',')
  }
}
