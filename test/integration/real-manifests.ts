import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { type KubeObject, RESOURCES, type ResourceInfo, resourceToken } from '#libs/kube-model'

/** An object of a real project, and how it is asked for. */
export type Manifest = { file: string; resource: ResourceInfo; token: string; object: KubeObject }

type Template = { metadata?: KubeObject['metadata']; spec: { volumes?: object[] } }

const FIXTURES = join(import.meta.dirname, '../fixtures/real')

/** Kinds that make pods: those cross, the objects themselves stay with the tenant's controllers. */
const CONTROLLERS = new Set([
  'CronJob',
  'DaemonSet',
  'Deployment',
  'Job',
  'ReplicaSet',
  'ReplicationController',
  'StatefulSet',
])

/** Kinds that never cross: they are about the tenant's cluster alone. */
const STAYING: readonly string[] = ['HorizontalPodAutoscaler', 'LimitRange', 'ResourceQuota']

const files = readdirSync(FIXTURES).filter((file) => file.endsWith('.yaml'))
const index = JSON.parse(readFileSync(join(FIXTURES, 'index.json'), 'utf8')) as Record<
  string,
  { repo?: string; licence?: string }
>
const objects = files.flatMap((file) => objectsIn(file).map((object) => ({ file, object })))
const definitions = objects.flatMap(({ object }) => (object.kind === 'CustomResourceDefinition' ? [object] : []))

/** All objects that the files hold, and the pods that their controllers would make. */
export const MANIFESTS: readonly Manifest[] = [
  ...objects.flatMap(({ file, object }) => {
    const resource = resourceOf(object)
    return resource === undefined || object.kind === 'Pod'
      ? []
      : [{ file, resource, token: resourceToken(resource), object: placed(object, resource) }]
  }),
  ...files.flatMap((file) => podsIn(file).map((object) => ({ file, resource: RESOURCES.pods, token: 'pods', object }))),
]

/** Kinds in the files of which nothing is known: neither a resource of ours nor with a definition, nor said to stay. */
export const UNKNOWN_KINDS: readonly string[] = [
  ...new Set(
    objects.flatMap(({ object }) => {
      const kind = String(object.kind)
      const isKnown = resourceOf(object) !== undefined || CONTROLLERS.has(kind) || STAYING.includes(kind)
      return isKnown ? [] : [kind]
    }),
  ),
]

/** Files of real projects of which the index does not say where they are from and under which licence. */
export const UNDECLARED: readonly string[] = files.filter((file) => {
  const { repo, licence } = index[file] ?? {}
  return repo === undefined || (licence === undefined && repo !== '(generated)')
})

/** How an object is asked for, by the kinds we know and the definitions in the files. */
function resourceOf({ apiVersion = '', kind }: KubeObject): ResourceInfo | undefined {
  const [version = '', group = ''] = apiVersion.split('/').toReversed()
  const known = Object.values(RESOURCES).find((each) => each.kind === kind && each.group === group)
  if (known !== undefined) return known
  for (const { spec } of definitions as unknown as { spec: Definition }[]) {
    const { names, scope } = spec
    if (spec.group === group && names.kind === kind)
      return { group, version, plural: names.plural, kind: names.kind, namespaced: scope === 'Namespaced' }
  }
  return undefined
}

type Definition = { group: string; scope: string; names: { kind: string; plural: string } }

/** The object in its namespace, as kubectl would send it. */
function placed(object: KubeObject, { namespaced }: ResourceInfo): KubeObject {
  if (!namespaced) return object
  return { ...object, metadata: { ...object.metadata, namespace: object.metadata.namespace ?? 'default' } }
}

/** The pods that a file holds, or that its controllers would make. */
function podsIn(file: string): KubeObject[] {
  return objectsIn(file).flatMap((object, index) => {
    const template = templateOf(object)
    if (template === undefined) return []
    const { labels, annotations } = template.metadata ?? {}
    const name =
      `${object.metadata.name ?? String(object.kind).toLowerCase()}-${file.slice(0, -5)}-${String(index)}`.slice(0, 253)
    const { namespace = 'default' } = object.metadata
    const metadata = {
      name,
      namespace,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    }
    return [{ apiVersion: 'v1', kind: 'Pod', metadata, spec: withClaims(object, template.spec) } as KubeObject]
  })
}

/** A StatefulSet's pods have volumes for its claims. */
function withClaims(object: KubeObject, podSpec: Template['spec']): object {
  const { volumeClaimTemplates = [] } = object['spec'] as { volumeClaimTemplates?: { metadata: { name: string } }[] }
  const claims = volumeClaimTemplates.map(({ metadata: { name } }) => ({
    name,
    persistentVolumeClaim: { claimName: `${name}-0` },
  }))
  return claims.length === 0 ? podSpec : { ...podSpec, volumes: [...(podSpec.volumes ?? []), ...claims] }
}

function templateOf(object: KubeObject): Template | undefined {
  const spec = object['spec'] as { template?: Template; jobTemplate?: { spec: { template: Template } } } | undefined
  const kind = String(object.kind)
  if (kind === 'Pod') return object as unknown as Template
  if (kind === 'CronJob') return spec?.jobTemplate?.spec.template
  return CONTROLLERS.has(kind) ? spec?.template : undefined
}

function objectsIn(file: string): KubeObject[] {
  return parseAllDocuments(readFileSync(join(FIXTURES, file), 'utf8')).flatMap((document) => {
    const object = document.toJS() as KubeObject | null
    return object === null || typeof object.kind !== 'string' ? [] : [object]
  })
}
