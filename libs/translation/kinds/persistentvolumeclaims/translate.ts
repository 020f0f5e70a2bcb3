import type { Reason } from '#libs/events'
import { cloneJson } from '#libs/kernel'
import type { JsonObject } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { storageClassOnHost } from '../../classes.ts'
import { asName, asObject, textOf } from '../../json.ts'
import type { ToHost, TranslateInput } from '../../kind.ts'
import { hostMetadata, metadataBase, refOf } from '../../metadata.ts'
import { hostName } from '../../names.ts'
import { fieldTags } from '../../owned-fields.ts'
import { hostLabelSelector } from '../../selectors.ts'
import type { TenantContext } from '../../view.ts'
import { specOf, withoutControllerAnnotations } from './fields.ts'
import { SOURCES, classNameOf } from './references.ts'

type Problem = { reason: Reason; message: string }

/** Fields of a claim that may change once it is there. */
const MUTABLE_FIELDS = ['resources', 'volumeAttributesClassName'] as const

/** The host copy of a claim. Every field that is not named here crosses as it is, known or not. */
export function claimToHost(input: TranslateInput): ToHost {
  const { virtual, tenant } = input
  const spec = cloneJson(specOf(virtual))
  const problem = translateVolume(spec, tenant) ?? translateClass(spec, input) ?? translateSources(spec, input)
  if (problem !== undefined) return { kind: 'reject', ...problem }
  const selector = asObject(spec.selector)
  if (selector !== undefined) spec.selector = hostLabelSelector(selector, { kind: 'all' }, tenant)
  const claim = withoutControllerAnnotations(virtual)
  return {
    kind: 'object',
    object: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: hostMetadata(refOf(virtual, 'persistentvolumeclaims'), claim, { tenant }),
      spec,
    },
    base: { ...metadataBase(claim), spec: fieldTags(mutableFields(specOf(virtual))) },
  }
}

/** What of a claim's spec follows the tenant after its creation: what it asks for. */
export function mutableFields(spec: JsonObject): JsonObject {
  const present = MUTABLE_FIELDS.filter((field) => spec[field] !== undefined)
  return Object.fromEntries(present.map((field) => [field, spec[field] ?? null]))
}

/** A volume that the tenant names is one of its own cluster, and no volume of the host may be had by its name. */
function translateVolume(spec: JsonObject, tenant: TenantContext): Problem | undefined {
  const name = asName(spec.volumeName)
  if (name === undefined) return undefined
  if (isEnabled(tenant.config, 'toHost', 'persistentVolumes')) {
    spec.volumeName = hostName({ namespace: '', name }, tenant.name)
    return undefined
  }
  return { reason: 'Unsupported', message: `volume "${name}" is not on the host: leave spec.volumeName empty` }
}

function translateClass(spec: JsonObject, { virtual, tenant, related }: TranslateInput): Problem | undefined {
  const name = classNameOf(virtual)
  if (name === undefined) return undefined
  spec.storageClassName = name
  if (name === '') return undefined
  const found = storageClassOnHost(name, { tenant, related })
  // Static volumes and their claims name classes that need not be there.
  const isStatic = isEnabled(tenant.config, 'toHost', 'persistentVolumes')
  if (found.kind === 'unknown' && !isStatic) return { reason: 'UnknownClass', message: found.message }
  spec.storageClassName = found.kind === 'name' ? found.name : hostName({ namespace: '', name }, tenant.name)
  return undefined
}

function translateSources(spec: JsonObject, { virtual, tenant }: TranslateInput): Problem | undefined {
  const namespace = virtual.metadata.namespace ?? ''
  for (const field of ['dataSource', 'dataSourceRef'] as const) {
    const source = asObject(spec[field])
    if (source === undefined) continue
    if (source.namespace !== undefined && source.namespace !== namespace) {
      return { reason: 'Unsupported', message: `spec.${field} is in another namespace` }
    }
    const kind = textOf(source.kind)
    if (
      SOURCES[kind] === undefined ||
      (kind === 'VolumeSnapshot' && !isEnabled(tenant.config, 'toHost', 'volumeSnapshots'))
    ) {
      return { reason: 'Unsupported', message: `spec.${field} is of kind ${kind}, which does not cross to the host` }
    }
    delete source.namespace
    source.name = hostName({ namespace, name: textOf(source.name) }, tenant.name)
  }
  return undefined
}
