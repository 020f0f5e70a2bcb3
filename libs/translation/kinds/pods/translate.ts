import { cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import { asName, asObject, objectsIn, textOf } from '../../json.ts'
import { isEnabled } from '#libs/sync-config'
import type { ToHost, TranslateInput } from '../../kind.ts'
import { hostMetadata, metadataBase, namespaceLabels, refOf } from '../../metadata.ts'
import { hostName } from '../../names.ts'
import { ANNOTATIONS, type Stamps } from '../../stamps.ts'
import { downwardAnnotations, redirectDownwardApi } from './downward.ts'
import { replaceClasses } from './classes.ts'
import { useTenantDns } from './dns.ts'
import { injectEnvironment } from './environment.ts'
import { containersOf, specOf } from './fields.ts'
import { addHostAliases } from './hosts-file.ts'
import { confinePlacement, translateImages } from './placement.ts'
import { ephemeralClaim, referenceSites } from './references.ts'
import { confineScheduling } from './scheduling.ts'
import { mountTokens } from './tokens.ts'
import { policyProblem } from './security/judge.ts'
import { specBase } from './spec-patch.ts'

/** Projected sources that would hand the pod a credential for the host. */
const HOST_CREDENTIALS = ['podCertificate'] as const

/** The host copy of a pod. Every field that is not named here crosses as it is, known or not. */
export function podToHost(input: TranslateInput): ToHost {
  const { virtual, tenant } = input
  const forbidden = policyProblem(virtual, tenant.config.policies.podSecurityStandard)
  if (forbidden !== undefined) return { kind: 'reject', reason: 'PolicyRejected', message: forbidden }
  const spec = cloneJson(specOf(virtual))
  const waiting = useTenantDns(spec, input)
  if (waiting !== undefined) return { kind: 'reject', reason: 'WaitingForDNS', message: waiting }
  const misplaced = confinePlacement(spec, input)
  if (misplaced !== undefined) return { kind: 'reject', reason: 'PolicyRejected', message: misplaced }
  const classes = replaceClasses(spec, input)
  if ('unknown' in classes) return { kind: 'reject', reason: 'UnknownClass', message: classes.unknown }
  const problem = confineScheduling(spec, virtual, tenant)
  if (problem !== undefined) return { kind: 'reject', reason: 'Unsupported', message: problem }
  // The API refuses them at creation; they are added right after.
  delete spec.ephemeralContainers
  const account = replaceIdentity(spec, input)
  translateParts(spec, input)
  addHostAliases(spec, input)
  const tokens = mountTokens(spec, input)
  removeHostCredentials(spec)
  return {
    kind: 'object',
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: hostMetadata(refOf(virtual, 'pods'), virtual, { tenant, extra: podStamps(input) }),
      spec,
    },
    base: { ...metadataBase(virtual), ...specBase(virtual) },
    needs: [...classes.needs, ...account],
    ...(tokens === undefined ? {} : { tokens }),
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

/** All that containers and volumes say in the tenant's terms, in the host's. Changes `spec`. */
function translateParts(spec: JsonObject, input: TranslateInput): void {
  const { virtual, tenant } = input
  redirectDownwardApi(spec, tenant)
  injectEnvironment(spec, input)
  translateImages(containersOf(spec), tenant.config)
  renameReferences(spec, virtual, tenant.name)
}

/** Containers that are added to a copy that is there. Changes them. */
export function translateContainers(containers: JsonObject[], input: TranslateInput): JsonObject[] {
  const spec: JsonObject = { ephemeralContainers: containers }
  translateParts(spec, input)
  return objectsIn(spec.ephemeralContainers)
}

function renameReferences(spec: JsonObject, virtual: KubeObject, tenant: string): void {
  const namespace = virtual.metadata.namespace ?? ''
  for (const volume of objectsIn(spec.volumes)) {
    if (volume.ephemeral === undefined) continue
    delete volume.ephemeral
    volume.persistentVolumeClaim = { claimName: ephemeralClaim(virtual, volume) }
  }
  for (const { holder, field } of referenceSites(spec)) {
    holder[field] = hostName({ namespace, name: textOf(holder[field]) }, tenant)
  }
}

/** @returns the ServiceAccount of the tenant that the copy runs under, if it is one */
function replaceIdentity(spec: JsonObject, { virtual, tenant }: TranslateInput): ObjectRef[] {
  const own = {
    resource: 'serviceaccounts',
    namespace: virtual.metadata.namespace ?? '',
    name: asName(spec.serviceAccountName) ?? asName(spec.serviceAccount) ?? 'default',
  }
  const crosses = isEnabled(tenant.config, 'toHost', 'serviceAccounts')
  // The deprecated alias would contradict the name.
  delete spec.serviceAccount
  spec.serviceAccountName = crosses ? hostName(own, tenant.name) : tenant.config.workloadServiceAccount
  spec.automountServiceAccountToken = false
  spec.enableServiceLinks = false
  spec.hostname = asName(spec.hostname) ?? hostnameFor(virtual.metadata.name ?? '')
  // It names a headless Service, which on the host has another name.
  delete spec.subdomain
  return crosses ? [own] : []
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
