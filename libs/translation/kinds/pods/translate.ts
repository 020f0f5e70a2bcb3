import { cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject, objectsIn, textOf } from '../../json.ts'
import type { ToHost, TranslateInput } from '../../kind.ts'
import { hostMetadata, metadataBase, namespaceLabels, refOf } from '../../metadata.ts'
import { hostName } from '../../names.ts'
import { ANNOTATIONS, LABELS, type Stamps } from '../../stamps.ts'
import { downwardAnnotations, redirectDownwardApi } from './downward.ts'
import { useTenantDns } from './dns.ts'
import { injectEnvironment } from './environment.ts'
import { specOf } from './fields.ts'
import { addHostAliases } from './hosts-file.ts'
import { referenceSites } from './references.ts'
import { confineScheduling } from './scheduling.ts'
import { policyProblem } from './security/judge.ts'
import { specBase } from './spec-patch.ts'

/** Fields that follow from classes of the tenant's cluster, which the host does not have. */
const CLASS_FIELDS = ['priorityClassName', 'priority', 'preemptionPolicy', 'runtimeClassName', 'overhead'] as const

/** Projected sources that would hand the pod a credential for the host's API. */
const HOST_CREDENTIALS = ['serviceAccountToken', 'podCertificate'] as const

/** The host copy of a pod. Every field that is not named here crosses as it is, known or not. */
export function podToHost(input: TranslateInput): ToHost {
  const { virtual, tenant } = input
  const forbidden = policyProblem(virtual, tenant.config.policies.podSecurityStandard)
  if (forbidden !== undefined) return { kind: 'reject', reason: 'PolicyRejected', message: forbidden }
  const spec = cloneJson(specOf(virtual))
  const waiting = useTenantDns(spec, input)
  if (waiting !== undefined) return { kind: 'reject', reason: 'WaitingForDNS', message: waiting }
  redirectDownwardApi(spec, tenant)
  injectEnvironment(spec, input)
  renameReferences(spec, virtual, tenant.name)
  replaceIdentity(spec, virtual, tenant.workloadServiceAccount ?? 'default')
  addHostAliases(spec, input)
  removeHostCredentials(spec)
  for (const field of CLASS_FIELDS) delete spec[field]
  // The API refuses them at creation.
  delete spec.ephemeralContainers
  if (!mayChooseNode(input)) delete spec.nodeName
  const problem = confineScheduling(spec, virtual, tenant)
  if (problem !== undefined) return { kind: 'reject', reason: 'Unsupported', message: problem }
  return {
    kind: 'object',
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: hostMetadata(refOf(virtual, 'pods'), virtual, { tenant, extra: podStamps(input) }),
      spec,
    },
    base: { ...metadataBase(virtual), ...specBase(virtual) },
  }
}

/**
 * What a pod's copy carries besides the common stamps: the labels of its namespace, absent while the namespace is
 * not known, and the tenant's values for the downward API.
 */
export function podStamps({ virtual, related }: TranslateInput): Partial<Stamps> {
  const name = virtual.metadata.namespace ?? ''
  const namespace = related.virtual({ resource: 'namespaces', namespace: '', name })
  const owner = objectsIn(virtual.metadata.ownerReferences).find(({ controller }) => controller === true)
  const ownerKind = asName(owner?.kind)
  return {
    ...(namespace === undefined ? {} : { labels: namespaceLabels(namespace) }),
    annotations: {
      ...downwardAnnotations(virtual),
      ...(ownerKind === undefined ? {} : { [ANNOTATIONS.ownerKind]: ownerKind }),
    },
  }
}

function renameReferences(spec: JsonObject, virtual: KubeObject, tenant: string): void {
  const namespace = virtual.metadata.namespace ?? ''
  for (const volume of objectsIn(spec.volumes)) {
    // The tenant's own controller makes the claim of an ephemeral volume, and deletes it with the pod.
    if (volume.ephemeral === undefined) continue
    delete volume.ephemeral
    volume.persistentVolumeClaim = { claimName: `${virtual.metadata.name ?? ''}-${textOf(volume.name)}` }
  }
  for (const { holder, field } of referenceSites(spec)) {
    holder[field] = hostName({ namespace, name: textOf(holder[field]) }, tenant)
  }
}

function replaceIdentity(spec: JsonObject, virtual: KubeObject, serviceAccount: string): void {
  // The deprecated alias would contradict the name.
  delete spec.serviceAccount
  spec.serviceAccountName = serviceAccount
  spec.automountServiceAccountToken = false
  spec.enableServiceLinks = false
  spec.hostname = asName(spec.hostname) ?? hostnameFor(virtual.metadata.name ?? '')
  // It names a headless Service, which on the host has another name.
  delete spec.subdomain
}

/** A pod's hostname is its name, as far as that is a DNS label. */
function hostnameFor(name: string): string {
  return name.slice(0, 63).replaceAll('.', '-').replace(/-+$/, '')
}

function removeHostCredentials(spec: JsonObject): void {
  for (const volume of objectsIn(spec.volumes)) {
    const projected = asObject(volume.projected)
    if (!Array.isArray(projected?.sources)) continue
    projected.sources = objectsIn(projected.sources).filter((source) =>
      HOST_CREDENTIALS.every((credential) => source[credential] === undefined),
    )
  }
}

/**
 * A node that the tenant names is honoured if it is one of the tenant's: mirrored by us, and in use by a pod that the
 * host itself put there. The label alone proves nothing, since tenants can write Nodes.
 */
function mayChooseNode({ virtual, related }: TranslateInput): boolean {
  const name = asName(specOf(virtual).nodeName)
  if (name === undefined) return false
  const ref = { resource: 'nodes', namespace: '', name }
  const node = related.virtual(ref)
  return node?.metadata.labels?.[LABELS.virtualNode] === 'true' && related.usersOf(ref).length > 0
}
