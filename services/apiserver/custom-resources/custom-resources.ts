import { canonicalJson, sha256Hex } from '#libs/kernel'
import type { Json } from '#libs/kube-model'
import type { ApiResource, Subresource } from '../discovery/resources.ts'
import { compareVersions } from '../discovery/version-order.ts'
import type { CustomKind } from './custom-kind.ts'
import { customStrategy } from './custom-strategy.ts'
import { hasCondition } from './definition.ts'
import type { Definition, DefinitionVersion } from './definition.ts'
import { typeOfKind } from './field-schema.ts'
import { printerTable } from './printer-columns.ts'

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const PART_VERBS = ['get', 'patch', 'update']

/**
 * The resources that a definition serves, the preferred version first; none before it is established. `storage` is
 * the version in which controllers of this process see the objects, served or not.
 */
export function customResources(definition: Definition): { served: ApiResource[]; storage: ApiResource } | undefined {
  if (!hasCondition(definition, 'Established')) return undefined
  const versions = [...definition.spec.versions].sort((a, b) => compareVersions(a.name, b.name))
  const served = versions.filter((version) => version.served)
  const resources = served.map((version, index) => resourceOf(definition, version, index === 0))
  const stored = versions.find((version) => version.storage)
  if (stored === undefined) return undefined
  const storage = resources.find(({ version }) => version === stored.name) ?? resourceOf(definition, stored, false)
  return { served: resources, storage }
}

function resourceOf(definition: Definition, version: DefinitionVersion, preferred: boolean): ApiResource {
  const { group, names, scope } = definition.spec
  const { columns, cells } = printerTable(version.additionalPrinterColumns)
  const { status, scale } = version.subresources ?? {}
  const subresources: Subresource[] = [
    ...(status === undefined ? [] : [{ name: 'status', kind: names.kind, verbs: PART_VERBS }]),
    ...(scale === undefined ? [] : [{ name: 'scale', kind: 'Scale', group: 'autoscaling', verbs: PART_VERBS }]),
  ]
  return {
    group,
    version: version.name,
    apiVersion: `${group}/${version.name}`,
    preferred,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    namespaced: scope === 'Namespaced',
    verbs: VERBS,
    ...(names.shortNames === undefined ? {} : { shortNames: names.shortNames }),
    ...(names.categories === undefined ? {} : { categories: names.categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
    columns,
    token: `${names.plural}.${group}`,
    custom: { ...customKind(definition, version), cells },
  }
}

function customKind(definition: Definition, version: DefinitionVersion): Omit<CustomKind, 'cells'> {
  const schema = version.schema?.openAPIV3Schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const { status, scale } = version.subresources ?? {}
  const hasStatus = status !== undefined
  return {
    schema,
    type: typeOfKind(schema, hasStatus),
    strategy: customStrategy(schema, hasStatus),
    hasStatus,
    scale,
    selectable: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, '')),
    warning: deprecation(definition, version),
    isTerminating: definition.metadata.deletionTimestamp !== undefined,
    fingerprint: sha256Hex(canonicalJson(version as unknown as Json)),
  }
}

function deprecation({ spec }: Definition, version: DefinitionVersion): string | undefined {
  if (version.deprecated !== true) return undefined
  if (version.deprecationWarning !== undefined) return version.deprecationWarning
  const { group, names, versions } = spec
  const own = `${group}/${version.name} ${names.kind} is deprecated`
  const better = versions
    .filter((other) => other.served && other.deprecated !== true && compareVersions(other.name, version.name) < 0)
    .sort((a, b) => compareVersions(a.name, b.name))[0]
  return better === undefined ? own : `${own}; use ${group}/${better.name} ${names.kind}`
}
