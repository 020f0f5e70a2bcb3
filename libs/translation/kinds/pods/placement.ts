import { cloneJson, jsonEqual } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { type TenantConfig, parseToleration } from '#libs/sync-config'
import { asName, objectsIn, stringMap, textOf } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { LABELS } from '../../stamps.ts'
import type { Related } from '../../view.ts'
import { specOf, statusOf } from './fields.ts'

/**
 * Keeps a pod on the tenant's nodes: their selector, the tolerations that the tenant's pods get, and a node that the
 * tenant names only if it is one of them. Changes `spec`, which is the copy's.
 * @returns why the pod cannot run where it asks to, as a sentence
 */
export function confinePlacement(spec: JsonObject, input: TranslateInput): string | undefined {
  const { virtual, tenant } = input
  const enforced = enforcedNodeLabels(tenant.config)
  const wanted = stringMap(spec.nodeSelector)
  const contradicted = Object.keys(enforced).find((key) => key in wanted && wanted[key] !== enforced[key])
  if (contradicted !== undefined) {
    return `asks for nodes with ${contradicted}=${wanted[contradicted] ?? ''}, and this cluster's nodes have another value`
  }
  if (Object.keys(enforced).length > 0) spec.nodeSelector = { ...wanted, ...enforced }
  const added = missingTolerations(objectsIn(spec.tolerations), tenant.config)
  if (added.length > 0) spec.tolerations = [...objectsIn(spec.tolerations), ...added]
  const node = asName(spec.nodeName)
  if (node !== undefined && isOwnNode(node, input)) return undefined
  delete spec.nodeName
  if (node === undefined) return undefined
  // A pod that was bound before, by us, is scheduled anew; one that the tenant put there must not go elsewhere.
  const wasBound = objectsIn(statusOf(virtual).conditions).some(
    ({ type, status }) => type === 'PodScheduled' && status === 'True',
  )
  return wasBound ? undefined : `node "${node}" is not one of this cluster's`
}

/** Labels that the nodes of a tenant's pods must have. */
function enforcedNodeLabels({ nodes, sync }: TenantConfig): Record<string, string> {
  const mirrored = sync.fromHost.nodes
  return {
    ...(mirrored.enabled && !mirrored.selector.all ? mirrored.selector.labels : {}),
    ...(nodes.model === 'dedicated' ? nodes.selector : {}),
  }
}

/** Tolerations that the tenant's pods get and that are not among these. */
export function missingTolerations(present: readonly JsonObject[], config: TenantConfig): JsonObject[] {
  const enforced: unknown[] = [
    ...config.sync.toHost.pods.enforceTolerations.map(parseToleration),
    ...(config.nodes.model === 'dedicated' ? config.nodes.tolerations : []),
  ]
  return enforced
    .filter((toleration): toleration is JsonObject => typeof toleration !== 'string')
    .filter((toleration) => !present.some((other) => jsonEqual(other, toleration)))
    .map((toleration) => cloneJson(toleration))
}

/**
 * Whether a host node is one of the tenant's: it has the labels that its nodes must have, or else is shown to the tenant,
 * all nodes being so, or being in use by a pod that the host itself put there. The label of our virtual nodes alone
 * proves nothing, since tenants can write Nodes.
 */
function isOwnNode(name: string, { tenant, related }: TranslateInput): boolean {
  const ref = { resource: 'nodes', namespace: '', name }
  const enforced = Object.entries(enforcedNodeLabels(tenant.config))
  if (enforced.length > 0) {
    const labels = stringMap(related.host(ref)?.metadata.labels)
    return enforced.every(([key, value]) => labels[key] === value)
  }
  const { enabled, selector } = tenant.config.sync.fromHost.nodes
  if (enabled && selector.all) return related.host(ref) !== undefined
  return related.virtual(ref)?.metadata.labels?.[LABELS.virtualNode] === 'true' && related.usersOf(ref).length > 0
}

/** Whether the tenant's pod was put on a Node that is no copy of the host's. */
export function isOnOwnNode(virtual: KubeObject, related: Related): boolean {
  const name = asName(specOf(virtual).nodeName)
  const node = name === undefined ? undefined : related.virtual({ resource: 'nodes', namespace: '', name })
  if (node === undefined) return false
  const labels = stringMap(node.metadata.labels)
  return labels[LABELS.virtualNode] !== 'true' && labels[LABELS.mirror] !== 'true'
}

/** The image that a container of the tenant's gets on the host. */
export function hostImage(image: string, config: TenantConfig): string {
  const { translateImage } = config.sync.toHost.pods
  return (Object.hasOwn(translateImage, image) ? translateImage[image] : undefined) ?? image
}

/** Puts the host's images in place of the tenant's. Changes the containers. */
export function translateImages(containers: readonly JsonObject[], config: TenantConfig): void {
  for (const container of containers) {
    if (asName(container.image) !== undefined) container.image = hostImage(textOf(container.image), config)
  }
}

/** Labels of nodes that the tenant asks for and that are not the operator's to decide. */
export function wantedNodeLabels({ virtual, tenant }: TranslateInput): Record<string, string> {
  const enforced = enforcedNodeLabels(tenant.config)
  const wanted = Object.entries(stringMap(specOf(virtual).nodeSelector)).filter(([key]) => !(key in enforced))
  return Object.fromEntries(wanted)
}
