import { cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import { storageClassOnHost } from '../../classes.ts'
import { asName, asObject, textOf } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { hostName, hostNamespaceFor } from '../../names.ts'
import { contentOf } from '../../owned-fields.ts'
import type { Content } from '../owned-kind.ts'

/** Sources that are directories or devices of a node, whoever else uses them. */
const NODE_SOURCES = ['hostPath', 'local'] as const

/** The host copy of a volume that the tenant made. */
export function volumeToHost(input: TranslateInput): Content {
  const { virtual, tenant } = input
  const fields = cloneJson(contentOf(virtual))
  const spec = asObject(fields.spec) ?? {}
  const onNode = NODE_SOURCES.find((source) => spec[source] !== undefined)
  if (onNode !== undefined && tenant.config.policies.podSecurityStandard !== 'privileged') {
    const message = `volumes of type ${onNode} are for tenants with podSecurityStandard privileged`
    return { kind: 'reject', reason: 'PolicyRejected', message }
  }
  const name = asName(spec.storageClassName)
  if (name !== undefined) {
    const found = storageClassOnHost(name, input)
    // Static volumes name classes that need not be there.
    spec.storageClassName = found.kind === 'name' ? found.name : hostName({ namespace: '', name }, tenant.name)
  }
  for (const { holder, fields: site } of secretSites(spec)) {
    const ref = { namespace: textOf(holder[site.namespace]), name: textOf(holder[site.name]) }
    if (ref.namespace === '') {
      const message = `the volume's Secret "${ref.name}" needs a namespace`
      return { kind: 'reject', reason: 'Unsupported', message }
    }
    holder[site.name] = hostName(ref, tenant.name)
    holder[site.namespace] = hostNamespaceFor(ref.namespace, tenant)
  }
  const claim = asObject(spec.claimRef)
  if (claim !== undefined) {
    const ref = { namespace: textOf(claim.namespace), name: textOf(claim.name) }
    // Which one it is by uid is for the host to find out.
    spec.claimRef = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      namespace: hostNamespaceFor(ref.namespace, tenant),
      name: hostName(ref, tenant.name),
    }
  }
  return { kind: 'content', fields: { ...fields, spec } }
}

/** The Secrets of the tenant that a volume is reached with. */
export function volumeSecrets(virtual: KubeObject): ObjectRef[] {
  return secretSites(asObject(virtual.spec) ?? {}).flatMap(({ holder, fields }) => {
    const namespace = asName(holder[fields.namespace])
    const name = asName(holder[fields.name])
    return namespace === undefined || name === undefined ? [] : [{ resource: 'secrets', namespace, name }]
  })
}

type Site = { holder: JsonObject; fields: { name: string; namespace: string } }

/** Every place of a volume's source that names a Secret: references end in `SecretRef`, one driver has two fields. */
function secretSites(spec: JsonObject): Site[] {
  return Object.values(spec).flatMap((value) => {
    const source = asObject(value)
    if (source === undefined) return []
    const refs = Object.entries(source).flatMap(([field, inner]): Site[] => {
      const holder = asObject(inner)
      const isSecret = holder !== undefined && /secretRef$/i.test(field)
      return isSecret ? [{ holder, fields: { name: 'name', namespace: 'namespace' } }] : []
    })
    const isPair = asName(source.secretName) !== undefined
    return isPair ? [...refs, { holder: source, fields: { name: 'secretName', namespace: 'secretNamespace' } }] : refs
  })
}
