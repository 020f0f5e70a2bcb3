import type { KubeObject } from '#libs/kube-model'
import type { FieldProblem } from '../api-error.ts'
import { dnsLabelProblems, subdomainProblems } from '../strategy/names.ts'
import { immutable, invalid, invalidAll, notSupported, required } from '../strategy/field-problem.ts'
import type { KindRules } from '../strategy/strategy.ts'
import { hasCondition } from './definition.ts'
import type { Definition, DefinitionVersion } from './definition.ts'
import { structuralProblems } from './structural-problems.ts'

/** The rules of CustomResourceDefinitions. */
export const DEFINITION_RULES: KindRules = {
  hasGeneration: true,
  prepareCreate: (object) => {
    complete(object)
    const stored = specOf(object).versions.filter(({ storage }) => storage)
    object['status'] = {
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      ...(stored.length === 0 ? {} : { storedVersions: stored.map(({ name }) => name) }),
    }
  },
  prepareUpdate: (next) => {
    complete(next)
    const status = (next['status'] ?? {}) as { storedVersions?: string[] }
    const known = status.storedVersions ?? []
    const added = specOf(next).versions.flatMap(({ storage, name }) => (storage && !known.includes(name) ? [name] : []))
    if (added.length > 0) next['status'] = { ...status, storedVersions: [...known, ...added] }
  },
  validateCreate: (object) => {
    const { names, group } = specOf(object)
    const { name } = object.metadata
    if (!names.plural || !group || name === `${names.plural}.${group}`) return []
    return [invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]
  },
  validate: (object) => [...specProblems(specOf(object)), ...storedProblems(object)],
  validateUpdate: (next, previous) => {
    const [after, before] = [specOf(next), specOf(previous)]
    const problems: FieldProblem[] = []
    if (after.group !== before.group) problems.push(immutable('spec.group', after.group))
    if (after.scope !== before.scope) problems.push(immutable('spec.scope', after.scope))
    if (after.names.plural !== before.names.plural) problems.push(immutable('spec.names.plural', after.names.plural))
    const isEstablished = hasCondition(previous as Definition, 'Established')
    if (isEstablished && after.names.kind !== before.names.kind) {
      problems.push(immutable('spec.names.kind', after.names.kind))
    }
    return problems
  },
}

type Spec = Definition['spec']

/** The spec with what a client left out; connected to the object where that has it. */
function specOf(object: KubeObject): Spec {
  const spec = (object['spec'] ?? {}) as Partial<Spec>
  return Object.assign(spec, { names: spec.names ?? { plural: '', kind: '' }, versions: spec.versions ?? [] }) as Spec
}

/** Adds the names and the conversion that follow from the rest. */
function complete(object: KubeObject): void {
  const spec = specOf(object) as Spec & { conversion?: { strategy: string } }
  const { kind } = spec.names
  if (kind) {
    spec.names.singular ||= kind.toLowerCase()
    spec.names.listKind ||= `${kind}List`
  }
  spec.conversion ??= { strategy: 'None' }
}

function specProblems(spec: Spec): FieldProblem[] {
  const { group, names, scope, versions } = spec
  const problems: FieldProblem[] = []
  if (!group) problems.push(required('spec.group'))
  else if (subdomainProblems(group).length > 0)
    problems.push(...invalidAll('spec.group', group, subdomainProblems(group)))
  else if (!group.includes('.')) problems.push(invalid('spec.group', group, 'should be a domain with at least one dot'))
  if (!scope) problems.push(required('spec.scope'))
  else if (scope !== 'Cluster' && scope !== 'Namespaced') {
    problems.push(notSupported('spec.scope', scope, ['Cluster', 'Namespaced']))
  }
  problems.push(...versionProblems(versions), ...nameProblems(names))
  for (const [index, version] of versions.entries()) problems.push(...schemaProblems(version, index, versions))
  return problems
}

function versionProblems(versions: readonly DefinitionVersion[]): FieldProblem[] {
  const field = 'spec.versions'
  const problems: FieldProblem[] = []
  const seen = new Set<string>()
  for (const [index, { name }] of versions.entries()) {
    problems.push(...invalidAll(`${field}[${index}].name`, name, dnsLabelProblems(name)))
    if (seen.has(name)) problems.push(invalid(field, shown(versions), 'must contain unique version names'))
    seen.add(name)
  }
  const stored = versions.filter(({ storage }) => storage).length
  if (stored !== 1)
    problems.push(invalid(field, shown(versions), 'must have exactly one version marked as storage version'))
  return problems
}

/** Versions as upstream shows them: a single one without what is kept beside it. */
function shown(versions: readonly DefinitionVersion[]): object[] {
  const isSingle = versions.length === 1
  return versions.map((version) => ({
    Name: version.name,
    Served: version.served,
    Storage: version.storage,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: isSingle ? null : (version.schema ?? null),
    Subresources: isSingle ? null : (version.subresources ?? null),
    AdditionalPrinterColumns: isSingle ? null : (version.additionalPrinterColumns ?? null),
    SelectableFields: isSingle ? null : (version.selectableFields ?? null),
  }))
}

function nameProblems(names: Spec['names']): FieldProblem[] {
  const problems: FieldProblem[] = []
  const check = (field: string, text: string | undefined): void => {
    if (!text) problems.push(required(field))
    else problems.push(...invalidAll(field, text, dnsLabelProblems(text.toLowerCase())))
  }
  check('spec.names.plural', names.plural)
  check('spec.names.singular', names.singular)
  check('spec.names.kind', names.kind)
  check('spec.names.listKind', names.listKind)
  for (const [index, name] of (names.shortNames ?? []).entries()) check(`spec.names.shortNames[${index}]`, name)
  if (names.kind && names.kind === names.listKind) {
    problems.push(invalid('spec.names.listKind', names.listKind, 'kind and listKind may not be the same'))
  }
  return problems
}

function schemaProblems(
  version: DefinitionVersion,
  index: number,
  versions: readonly DefinitionVersion[],
): FieldProblem[] {
  const field = `spec.versions[${index}].schema.openAPIV3Schema`
  const schema = version.schema?.openAPIV3Schema
  if (schema === undefined) return [required(field)]
  // Upstream keeps the schema of a single version beside the versions, and names it so.
  return structuralProblems(schema, versions.length === 1 ? 'spec.validation.openAPIV3Schema' : field)
}

function storedProblems(object: KubeObject): FieldProblem[] {
  const { storedVersions = [] } = (object['status'] ?? {}) as { storedVersions?: string[] }
  const field = 'status.storedVersions'
  if (storedVersions.length === 0) return [invalid(field, null, 'must have at least one stored version')]
  const names = new Set(specOf(object).versions.map(({ name }) => name))
  return storedVersions.flatMap((name, index) =>
    names.has(name) ? [] : [invalid(`${field}[${index}]`, name, 'must appear in spec.versions')],
  )
}
