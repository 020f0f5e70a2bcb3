import { KubeApiError } from '#libs/kube'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { ANNOTATIONS } from '#libs/translation'
import { classify, saidBy } from './classify.ts'
import type { Call } from './execute.ts'
import { type Attempt, conflict, parked } from './result.ts'

/** What the API of a Service's own side gives it. */
const GIVEN_FIELDS = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'healthCheckNodePort']

export function addressOf(service: KubeObject): string {
  const { clusterIP } = specOf(service)
  return typeof clusterIP === 'string' ? clusterIP : ''
}

/**
 * Asks the tenant's API whether it would accept a new Service, before the old one is touched.
 * @returns what stands against it; undefined when nothing is known to
 */
export async function objectionTo(body: KubeObject, call: Pick<Call, 'client' | 'resource' | 'options' | 'intent'>) {
  const { client, resource, options, intent } = call
  try {
    await client.create(resource, intent.target, trialOf(body), { ...options, dryRun: true })
    return await holderOf(addressOf(body), call)
  } catch (error) {
    if (!(error instanceof KubeApiError)) throw error
    const refusal: Attempt = classify(error, { op: 'create' })
    if (refusal.result !== 'parked' || refusal.reason === 'Unauthorized') return refusal
    return refusal.reason === 'NamespaceMissing' || refusal.reason === 'NamespaceTerminating'
      ? conflict(saidBy(error))
      : parked('Unsupported', saidBy(error))
  }
}

/** A dry run does not tell whether an address is taken. */
async function holderOf(address: string, call: Pick<Call, 'client' | 'resource' | 'options'>) {
  try {
    const fieldSelector = `spec.clusterIP=${address}`
    const { items } = await call.client.listPage(call.resource, { ...call.options, fieldSelector })
    const holder = items.find((service) => addressOf(service) === address)?.metadata
    if (holder === undefined) return undefined
    return parked(
      'Unsupported',
      `the address ${address} is already that of Service ${holder.namespace ?? ''}/${holder.name ?? ''}`,
    )
  } catch (error) {
    // Not every API can select by it: then its dry run is all there is to ask.
    if (error instanceof KubeApiError && error.statusCode === 400) return undefined
    throw error
  }
}

/** A Service that nobody sees: the node ports are still those of the old one. */
function trialOf(body: KubeObject): KubeObject {
  const { namespace, labels } = body.metadata
  return {
    ...body,
    metadata: {
      generateName: 'causeway-',
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
    },
    spec: withoutNodePorts(omit(specOf(body), ['healthCheckNodePort'])),
  }
}

/** What is created when the API does not take the new Service after all: it as it was, at last without its node ports. */
export function fallbackBodies(body: KubeObject): KubeObject[] {
  const { metadata } = body
  const annotations = { ...metadata.annotations, [ANNOTATIONS.refusedAddress]: addressOf(body) }
  const spec = omit(specOf(body), GIVEN_FIELDS)
  return [spec, withoutNodePorts(spec)].map((given) => ({
    ...body,
    metadata: { ...metadata, annotations },
    spec: given,
  }))
}

function withoutNodePorts(spec: JsonObject): JsonObject {
  const { ports } = spec
  if (!Array.isArray(ports)) return spec
  return { ...spec, ports: ports.map((port) => omit(port as JsonObject, ['nodePort'])) }
}

function omit(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)))
}

function specOf(service: KubeObject): JsonObject {
  return (service['spec'] ?? {}) as JsonObject
}
