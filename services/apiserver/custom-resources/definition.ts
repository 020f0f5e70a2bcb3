import type { JsonObject, KubeObject } from '#libs/kube-model'
import type { JsonSchema } from './json-schema.ts'
import type { PrinterColumn } from './printer-columns.ts'

export const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'

/** Holds a definition until its objects are gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'

type DefinitionNames = {
  plural: string
  singular?: string
  kind: string
  listKind?: string
  shortNames?: string[]
  categories?: string[]
}

export type ScalePaths = { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string }

export type DefinitionVersion = {
  name: string
  served: boolean
  storage: boolean
  deprecated?: boolean
  deprecationWarning?: string
  schema?: { openAPIV3Schema?: JsonSchema }
  subresources?: { status?: JsonObject; scale?: ScalePaths }
  additionalPrinterColumns?: PrinterColumn[]
  selectableFields?: { jsonPath: string }[]
}

export type DefinitionCondition = {
  type: string
  status: 'True' | 'False'
  lastTransitionTime?: string
  reason?: string
  message?: string
}

/** https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/ */
export type Definition = KubeObject & {
  spec: { group: string; scope: 'Namespaced' | 'Cluster'; names: DefinitionNames; versions: DefinitionVersion[] }
  status?: {
    conditions?: DefinitionCondition[] | null
    acceptedNames?: DefinitionNames
    storedVersions?: string[]
  }
}

export function hasCondition(definition: Definition, type: string): boolean {
  return (definition.status?.conditions ?? []).some((item) => item.type === type && item.status === 'True')
}

/** The conditions with one of them set; its time moves only with its status. */
export function withCondition(
  conditions: readonly DefinitionCondition[] | null | undefined,
  next: DefinitionCondition,
  now: string,
): DefinitionCondition[] {
  const known = conditions ?? []
  const before = known.find(({ type }) => type === next.type)
  const lastTransitionTime = before?.status === next.status ? (before.lastTransitionTime ?? now) : now
  const { type, status, ...rest } = next
  const made = { type, status, lastTransitionTime, ...rest }
  return before === undefined ? [...known, made] : known.map((item) => (item === before ? made : item))
}
