import { compileExpression } from '#libs/expressions'
import type { PatchConfig } from '#libs/sync-config'
import { OWN_PREFIX } from '../stamps.ts'
import { EVERY, type Segment, parsePath } from './path.ts'
import { referredResource } from './reference.ts'

/** Fields that hold selectors of labels: what confines them to the tenant must stay in them. */
const SELECTORS: ReadonlySet<string> = new Set([
  'selector',
  'labelSelector',
  'podSelector',
  'namespaceSelector',
  'objectSelector',
  'matchLabels',
  'matchExpressions',
])

/** What is wrong with a patch's path or expressions; `undefined` when nothing is. */
export function checkPatch(patch: PatchConfig): string | undefined {
  const problem = pathProblem(patch)
  if (problem !== undefined) return `path "${patch.path}" ${problem}`
  for (const key of ['expression', 'reverseExpression'] as const) {
    const source = patch[key]
    const compiled = source === undefined ? undefined : compileExpression(source)
    if (compiled !== undefined && 'problem' in compiled) {
      return `${key} of "${patch.path}" ${compiled.problem}: ${source ?? ''}`
    }
  }
  const { reference } = patch
  if (reference === undefined) return undefined
  for (const key of ['apiVersionPath', 'kindPath', 'namePath', 'namespacePath'] as const) {
    const path = reference[key]
    const parsed = path === undefined ? [] : parsePath(path)
    if (parsed === undefined || parsed.includes(EVERY))
      return `reference.${key} "${path ?? ''}" is no path to one field`
  }
  const isOpen = reference.kindPath !== undefined || reference.apiVersionPath !== undefined
  if (isOpen || referredResource(reference.apiVersion, reference.kind) !== undefined) return undefined
  return `reference: ${reference.apiVersion} ${reference.kind} is no kind that crosses`
}

function pathProblem(patch: PatchConfig): string | undefined {
  const path = parsePath(patch.path)
  if (path === undefined) return 'is none; write it like spec.dnsNames[*] or metadata.annotations["example.com/team"]'
  const [first, second, third] = path
  if (first === 'apiVersion' || first === 'kind') return 'cannot be patched: it says what the object is'
  if (typeof first !== 'string') return 'must begin with a field'
  if (path.some((segment) => typeof segment === 'string' && segment.startsWith(OWN_PREFIX))) {
    return `cannot be patched: everything under ${OWN_PREFIX} keeps objects apart`
  }
  if (first === 'metadata') {
    if (second !== 'labels' && second !== 'annotations') {
      return 'cannot be patched: of metadata only labels and annotations can be, by key'
    }
    if (typeof third !== 'string' || path.length > 3)
      return `must name one key, like metadata.${second}["example.com/team"]`
  }
  if (patch.labels === undefined && path.some(isSelector)) {
    return 'cannot be patched by an expression: a selector is confined to the tenant; use labels: {}'
  }
  return undefined
}

function isSelector(segment: Segment): boolean {
  return typeof segment === 'string' && SELECTORS.has(segment)
}

/** Whether a value holds something of ours, such as what confines a selector to the tenant. */
export function holdsOwn(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith(OWN_PREFIX)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, inner]) => key.startsWith(OWN_PREFIX) || holdsOwn(inner))
}

/** Whether a value holds a selector. */
export function holdsSelector(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, inner]) => SELECTORS.has(key) || holdsSelector(inner))
}
