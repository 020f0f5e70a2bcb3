import type { Json, JsonObject, KubeObject } from '#libs/kube-model'
import { asName, asObject, objectsIn, textOf } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { hostRefOf } from '../../names.ts'
import { containersOf, specOf } from './fields.ts'

type Variables = Record<string, string>

/**
 * Gives the containers the variables that a kubelet of the tenant's cluster would: where its API is, and the Services of
 * the pod's namespace. They come first, so that the container's own may refer to them; what a container sets itself
 * wins. Changes `spec`, which is the copy's and whose references are not renamed yet.
 */
export function injectEnvironment(spec: JsonObject, input: TranslateInput): void {
  const variables = Object.entries(variablesFor(input)).toSorted(([a], [b]) => (a < b ? -1 : 1))
  for (const container of containersOf(spec)) {
    const own = objectsIn(container.env)
    const taken = new Set([...own.map(({ name }) => textOf(name)), ...fromSources(container, input)])
    const added = variables.filter(([name]) => !taken.has(name)).map(([name, value]) => ({ name, value }))
    container.env = [...added, ...own]
  }
}

function variablesFor(input: TranslateInput): Variables {
  const { virtual, tenant } = input
  const { host, port } = tenant.config.networking.apiServer
  const links = specOf(virtual).enableServiceLinks === false ? {} : serviceLinks(input)
  return { ...links, ...(host === undefined ? NO_API : apiVariables(host, port)) }
}

const API_PORT = { name: 'https', protocol: 'TCP' }

/**
 * The host's kubelet tells every pod where the host's API is, unless the pod has the variables already. With no address
 * of the tenant's API to tell, they are empty: clients take that for not running in a cluster, where they would else
 * turn to the host's API, with a token of the tenant's.
 */
const NO_API: Variables = Object.fromEntries(
  Object.keys(linkVariables('kubernetes', '', [{ ...API_PORT, port: 443 }])).map((name) => [name, '']),
)

/** The docker-style names hold the port: those of the host's own port are emptied where the tenant's is another. */
function apiVariables(host: string, port: number): Variables {
  return { ...NO_API, ...linkVariables('kubernetes', host, [{ ...API_PORT, port }]) }
}

/** Services that have no address on the host yet are left out, as kubelets leave out those without an address. */
function serviceLinks({ virtual, tenant, related }: TranslateInput): Variables {
  const variables: Variables = {}
  for (const service of related.virtualIn('services', virtual.metadata.namespace ?? '')) {
    const { name = '', namespace = '' } = service.metadata
    // A variable's name cannot begin with a digit; the API's own Service is not for pods to use.
    if (/^\d/.test(name) || (namespace === 'default' && name === 'kubernetes')) continue
    const copy = related.host(hostRefOf({ resource: 'services', namespace, name }, tenant))
    const address = asName(specOf(copy).clusterIP)
    const ports = objectsIn(specOf(service).ports)
    if (address === undefined || address === 'None' || ports.length === 0) continue
    Object.assign(variables, linkVariables(name, address, ports))
  }
  return variables
}

/** The variables of one Service, as kubelets make them. */
function linkVariables(service: string, address: string, ports: readonly JsonObject[]): Variables {
  const prefix = variableName(service)
  const variables: Variables = { [`${prefix}_SERVICE_HOST`]: address }
  const joined = address.includes(':') ? `[${address}]` : address
  ports.forEach(({ name, port, protocol }, index) => {
    const number = textOf(port)
    const transport = asName(protocol) ?? 'TCP'
    const url = `${transport.toLowerCase()}://${joined}:${number}`
    if (index === 0) {
      variables[`${prefix}_SERVICE_PORT`] = number
      variables[`${prefix}_PORT`] = url
    }
    const portName = asName(name)
    if (portName !== undefined) variables[`${prefix}_SERVICE_PORT_${variableName(portName)}`] = number
    const link = `${prefix}_PORT_${number}_${transport.toUpperCase()}`
    variables[link] = url
    variables[`${link}_PROTO`] = transport.toLowerCase()
    variables[`${link}_PORT`] = number
    variables[`${link}_ADDR`] = address
  })
  return variables
}

function variableName(text: string): string {
  return text.replaceAll('-', '_').toUpperCase()
}

/** Names of the variables that ConfigMaps and Secrets give a container, as far as these are known. */
function fromSources(container: JsonObject, { virtual, related }: TranslateInput): string[] {
  const namespace = virtual.metadata.namespace ?? ''
  return objectsIn(container.envFrom).flatMap((source) => {
    const prefix = textOf(source.prefix)
    const keysOf = (resource: string, reference: Json | undefined): string[] => {
      const name = asName(asObject(reference)?.name)
      const object = name === undefined ? undefined : related.virtual({ resource, namespace, name })
      return dataKeys(object).map((key) => prefix + key)
    }
    return [...keysOf('configmaps', source.configMapRef), ...keysOf('secrets', source.secretRef)]
  })
}

function dataKeys(object: KubeObject | undefined): string[] {
  return [object?.data, object?.stringData].flatMap((data) => Object.keys(asObject(data) ?? {}))
}
