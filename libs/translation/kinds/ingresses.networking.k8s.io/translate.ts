import { cloneJson } from '#libs/kernel'
import type { JsonObject, KubeObject } from '#libs/kube-model'
import { isEnabled } from '#libs/sync-config'
import { asName, asObject, objectsIn } from '../../json.ts'
import type { TranslateInput } from '../../kind.ts'
import { hostName } from '../../names.ts'
import { contentOf } from '../../owned-fields.ts'
import { LABELS } from '../../stamps.ts'
import type { Content } from '../owned-kind.ts'
import { hostAnnotations } from './annotations.ts'

/** Port name of backends that are actions of a load balancer and no Services. */
const USE_ANNOTATION = 'use-annotation'

/** The host's Ingress: same hosts and paths, with the names of the copies that it leads to. */
export function ingressContent(input: TranslateInput): Content {
  const { virtual, tenant } = input
  const problem = unknownClass(input)
  if (problem !== undefined) return { kind: 'reject', reason: 'UnknownClass', message: problem }
  const fields = cloneJson(contentOf(virtual))
  const namespace = virtual.metadata.namespace ?? ''
  const nameOf = (name: string): string => hostName({ namespace, name }, tenant.name)
  const backends = backendsOf(fields)
  const actions = new Set(backends.filter(isAction).flatMap(({ service }) => asName(asObject(service)?.name) ?? []))
  for (const backend of backends) {
    if (!isAction(backend)) rename(asObject(backend.service), 'name', nameOf)
    rename(asObject(backend.resource), 'name', nameOf)
  }
  for (const tls of objectsIn(asObject(fields.spec)?.tls)) rename(tls, 'secretName', nameOf)
  return { kind: 'content', fields, extra: { annotations: hostAnnotations(virtual, tenant, actions) } }
}

function backendsOf(fields: JsonObject): JsonObject[] {
  const spec = asObject(fields.spec)
  const paths = objectsIn(spec?.rules).flatMap((rule) => objectsIn(asObject(rule.http)?.paths))
  return objectsIn([spec?.defaultBackend, ...paths.map(({ backend }) => backend)])
}

function isAction(backend: JsonObject): boolean {
  return asObject(asObject(backend.service)?.port)?.name === USE_ANNOTATION
}

function rename(holder: JsonObject | undefined, field: string, nameOf: (name: string) => string): void {
  const name = asName(holder?.[field])
  if (holder !== undefined && name !== undefined) holder[field] = nameOf(name)
}

/** Where the tenant sees the host's classes, it may use those and no others. */
function unknownClass({ virtual, tenant, related }: TranslateInput): string | undefined {
  const name = classNameOf(virtual)
  if (name === undefined || !isEnabled(tenant.config, 'fromHost', 'ingressClasses')) return undefined
  const found: KubeObject | undefined = related.virtual({
    resource: 'ingressclasses.networking.k8s.io',
    namespace: '',
    name,
  })
  if (found?.metadata.labels?.[LABELS.mirror] === 'true') return undefined
  return `the host has no ingress class "${name}" for you`
}

/** The class that an Ingress asks for, by field or by the older annotation. */
function classNameOf(ingress: KubeObject): string | undefined {
  return (
    asName(asObject(ingress.spec)?.ingressClassName) ??
    asName(ingress.metadata.annotations?.['kubernetes.io/ingress.class'])
  )
}
