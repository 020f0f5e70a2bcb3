import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { systemClock } from '#libs/kernel'
import { type KubeClient, createKubeClient, isAlreadyExists, loadClusterConfig } from '#libs/kube'
import { type KubeObject, type ObjectRef, RESOURCES, type ResourceInfo, resourcePath } from '#libs/kube-model'
import type { TenantConfig } from '#libs/sync-config'
import { createLogger } from '#libs/telemetry'
import { type TenantContext, type View, decideFor, decideRank, isTwoSided, kindFor, mirrorFor } from '#libs/translation'
import { memoryRelated } from '#libs/translation/testing'
import { type Apiserver, startApiserver } from '../../services/apiserver/role.ts'
import {
  ALL_FROM_HOST,
  ALL_TO_HOST,
  DEFINITIONS,
  type Known,
  OWN_NAMESPACES,
  contextFor,
  isInstalled,
  refOf,
} from './real-context.ts'
import { MANIFESTS, type Manifest, UNDECLARED, UNKNOWN_KINDS } from './real-manifests.ts'

/*
 * Objects of real projects: each goes into a tenant's API, which fills in what it does, is decided about, and what
 * follows must be taken by the host's API, which knows every field of the recorded types and refuses those that it does
 * not. Read back, it must say what was written, and give nothing more to write. The host's own go the other way.
 */
const { namespaces } = RESOURCES

/** What does not cross, and what is said of it, if anything: the kinds' tests have the rest of it. */
const STAYS: Readonly<Record<string, string>> = {
  // A slice of no Service; what the host's clusters make by themselves or would honour as a credential.
  'endpointslice-manual.yaml: EndpointSlice/example-endpointslice of the tenant': 'nothing follows',
  'secret-bootstrap-token.yaml: Secret/bootstrap-token-5emitj of the host': 'nothing follows',
  'secret-sa-token.yaml: Secret/kube-api-secret of the host': 'nothing follows',
  // On the host, where all is in one namespace, it would be for the Secrets of all tenant's namespaces.
  'gateway-tls-referencegrant.yaml: ReferenceGrant/allow-ns1-gateways-to-ref-secrets of the tenant, together':
    'Unsupported: a grant for all objects of a kind cannot be said on the host',
}

let folder: string
let apiserver: Apiserver
let host: KubeClient
let tenant: KubeClient
let onlooker: KubeClient
const stored = new Map<Manifest, KubeObject>()
const hostDefinitions: Known[] = []
/** The copies that are on the host, by tenant and file. */
const copies = new Map<string, Known[]>()

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-real-'))
  const logger = createLogger({ service: 'test', level: 'silent' })
  const plain = { controllers: false }
  const clusters = { host: plain, tenant: { ...plain, serviceClusterIP: 'open' as const }, onlooker: plain }
  apiserver = await startApiserver({ dataDir: folder, logger, clusters })
  const open = async (name: string): Promise<KubeClient> =>
    createKubeClient(await loadClusterConfig({ path: apiserver.kubeconfigFile(name), env: {}, clock: systemClock }))
  ;[host, tenant, onlooker] = await Promise.all([open('host'), open('tenant'), open('onlooker')])
  for (const manifest of ordered()) await store(manifest)
})

afterAll(async () => {
  await Promise.all([host, tenant, onlooker].map((client) => client.close()))
  await apiserver.close()
  rmSync(folder, { recursive: true })
})

/** Two tenants: one with all in one host namespace, one with a host namespace for each of its own. */
const together = { name: 'together', config: ALL_TO_HOST }
const apart = { name: 'apart', config: OWN_NAMESPACES }
const FROM_HOST = groups((manifest) => {
  const mirror = mirrorFor(manifest.token)
  return mirror !== undefined && mirror.readsOriginals !== false && !isInstalled(manifest)
})

for (const given of [together, apart]) {
  describe.each(crossing(given.config))(`%s of the tenant, ${given.name}: %i`, (token, _count, manifests) => {
    test.each(manifests.map((manifest) => [labelOf(manifest), manifest] as const))('%s', async (label, manifest) => {
      const { refused, made } = decided(toHostView(manifest, given))
      expect(refused).toBe(STAYS[`${label} of the tenant, ${given.name}`] ?? STAYS[`${label} of the tenant`])
      if (refused !== undefined) return
      expect(made).toMatchObject([{ target: { side: 'host', resource: token } }])
      for (const { target, body, base } of made) {
        const served = await takenBy(host, target, body)
        expect(served).toMatchObject(body)
        remember(manifest, given, { ref: target, object: served })
        const view = { ...toHostView(manifest, given), host: { object: served, seq: 2 } }
        const next = decideFor(base === undefined ? view : { ...view, base })
        expect(next.filter((decision) => decision.kind !== 'write' || decision.target.side === 'host')).toEqual([])
      }
    })
  })
}

describe.each(FROM_HOST)('%s of the host: %i', (token, _count, manifests) => {
  test.each(manifests.map((manifest) => [labelOf(manifest), manifest] as const))('%s', async (label, manifest) => {
    const original = await onHost(manifest)
    const view = fromHostView(manifest, original)
    const { refused, made } = decided(view)
    expect(refused).toBe(STAYS[`${label} of the host`])
    if (refused !== undefined) return
    expect(made.at(-1)).toMatchObject({ target: { side: 'virtual', resource: token } })
    for (const { target, body, base } of made) {
      const served = await takenBy(onlooker, target, body)
      expect(served).toMatchObject(body)
      if (target.resource !== token) continue
      const seen = { ...view, virtual: { object: served, seq: 2 } }
      expect(decideFor(base === undefined ? seen : { ...seen, base })).toEqual([])
    }
  })
})

test('every kind that the files hold is translated', () => {
  expect(UNKNOWN_KINDS).toEqual([])
  const tried = new Set([...crossing(ALL_TO_HOST), ...crossing(OWN_NAMESPACES), ...FROM_HOST].map(([token]) => token))
  expect(MANIFESTS.filter(({ token }) => !tried.has(token))).toEqual([])
  const labels = MANIFESTS.map(labelOf)
  for (const label of Object.keys(STAYS))
    expect(labels).toContain(label.replace(/ of the (tenant|host)(, together)?$/, ''))
})

test('every file says where it is from, and under which licence', () => {
  expect(UNDECLARED).toEqual([])
})

type Made = { target: ObjectRef; body: KubeObject; base: View['base'] }

/** What is to be created, or why nothing can be. */
function decided(view: View): { refused?: string; made: Made[] } {
  const decisions = decideFor(view)
  const reject = decisions.find(({ kind }) => kind === 'reject')
  if (reject?.kind === 'reject') return { refused: `${reject.reason}: ${reject.message}`, made: [] }
  const made = decisions.flatMap((decision) =>
    decision.kind === 'write' && decision.write.op === 'create'
      ? [{ target: decision.target, body: decision.write.body, base: decision.base }]
      : [],
  )
  return made.length === 0 ? { refused: 'nothing follows', made } : { made }
}

/** Creates an object in a cluster that refuses what it does not know, and reads it back. */
async function takenBy(
  cluster: KubeClient,
  { resource, namespace, name }: ObjectRef,
  body: KubeObject,
): Promise<KubeObject> {
  const [version = '', group = ''] = (body.apiVersion ?? '').split('/').toReversed()
  const plural = resource.split('.')[0] ?? ''
  const info: ResourceInfo = { group, version, plural, kind: body.kind ?? '', namespaced: namespace !== '' }
  if (namespace !== '') await ensureNamespace(cluster, namespace)
  const query = { fieldValidation: 'Strict' }
  const created = cluster.request({ method: 'POST', path: resourcePath(info, { namespace }), query, body })
  await (body.kind === 'Namespace' ? createOnce(created) : created)
  const served = await cluster.get(info, { namespace, name })
  // Node ports are for one Service each.
  if (cluster === host && body.kind === 'Service') await host.delete(info, { namespace, name }, uidOf(served))
  return served
}

/** The kinds of the tenant's that its configuration lets cross. */
function crossing(config: TenantConfig) {
  return groups(({ token }) => kindFor(token)?.isEnabled(config) === true)
}

function toHostView(manifest: Manifest, given: Given): View {
  const { token, file } = manifest
  const object = stored.get(manifest)
  if (object === undefined) throw new Error(`${labelOf(manifest)} is not in the tenant`)
  const neighbours = MANIFESTS.filter((each) => each.file === file || each.token === 'namespaces')
  const virtual = neighbours.flatMap((each) => {
    const other = stored.get(each)
    return other === undefined ? [] : [{ ref: refOf(each.token, other), object: other }]
  })
  return {
    tenant: contextOf(given, file),
    key: refOf(token, object),
    virtual: { object, seq: 1 },
    host: { seq: 0 },
    related: memoryRelated({
      virtual: [...virtual, ...contextFor(file)],
      host: [...hostDefinitions, ...contextFor(file), ...(copies.get(`${given.name}/${file}`) ?? [])],
    }),
    waitedMs: Infinity,
  }
}

function fromHostView({ token, file }: Manifest, original: KubeObject): View {
  const context = contextOf({ name: 'onlooker', config: ALL_FROM_HOST }, file)
  const ref = refOf(token, original)
  const [key = ref] = mirrorFor(token)?.copiesOf?.(ref, context) ?? []
  const presence = { object: original, seq: 1 }
  const twoSided = isTwoSided(token)
  return {
    tenant: context,
    key,
    virtual: { seq: 0 },
    host: twoSided ? { seq: 0 } : presence,
    ...(twoSided ? { original: { ...presence, synced: true } } : {}),
    related: memoryRelated({ virtual: hostDefinitions, host: hostDefinitions }),
    waitedMs: Infinity,
  }
}

type Given = Pick<TenantContext, 'name' | 'config'>

/** Each file is a tenant of its own, so that files may name their objects alike. */
function contextOf({ name, config }: Given, file: string): TenantContext {
  const slug = file.replace(/^_|\.yaml$/g, '')
  return { name: `${name}-${slug}`.slice(0, 40), hostNamespace: `causeway-${slug}`, config, nodePortsAreChosen: true }
}

function remember({ file }: Manifest, { name }: Given, copy: Known): void {
  const key = `${name}/${file}`
  copies.set(key, [...(copies.get(key) ?? []), copy])
}

/** Puts an object into the tenant, as its user would. Definitions are on the host as well. */
async function store(manifest: Manifest): Promise<void> {
  const { resource, token } = manifest
  const object = forOurClusters(manifest.object)
  const { namespace, name = '' } = object.metadata
  if (namespace !== undefined) await ensureNamespace(tenant, namespace)
  if (token === 'pods') await ensureAccount(object)
  if (token === DEFINITIONS) {
    await host.create(resource, {}, object)
    if (isInstalled(manifest)) await onlooker.create(resource, {}, object)
    hostDefinitions.push({ ref: refOf(token, object), object: await established(host, name) })
  }
  // Two files have a Service of one name: each is read as it is in the tenant for itself.
  await createOnce(tenant.create(asWritten(resource, object), { namespace }, object))
  const served =
    token === DEFINITIONS ? await established(tenant, name) : await tenant.get(resource, { namespace, name })
  if (token === 'services') await tenant.delete(resource, { namespace, name }, uidOf(served))
  stored.set(manifest, served)
}

/** The object as the host's API holds it; definitions are there already. */
async function onHost({ resource, token, object }: Manifest): Promise<KubeObject> {
  const { namespace, name = '' } = object.metadata
  if (namespace !== undefined) await ensureNamespace(host, namespace)
  if (token !== DEFINITIONS) await host.create(resource, { namespace }, object)
  return await host.get(resource, { namespace, name })
}

/**
 * The embedded clusters have addresses of IPv4 alone; and ReferenceGrants are asked for in the version that all releases
 * of the Gateway API serve.
 */
function forOurClusters(object: KubeObject): KubeObject {
  const spec = object['spec'] as { versions?: object[]; ipFamilies?: string[] } | undefined
  if (object.kind === 'Service' && spec?.ipFamilies !== undefined)
    return { ...object, spec: { ...spec, ipFamilies: ['IPv4'] } } as KubeObject
  if (object.metadata.name !== 'referencegrants.gateway.networking.k8s.io') return object
  const [version] = spec?.versions ?? []
  return {
    ...object,
    spec: { ...spec, versions: [version, { ...version, name: 'v1beta1', storage: false }] },
  } as KubeObject
}

/** The resource in the version in which the object is written; it is read in the one that we ask for. */
function asWritten(resource: ResourceInfo, { apiVersion = '' }: KubeObject): ResourceInfo {
  return { ...resource, version: apiVersion.slice(apiVersion.indexOf('/') + 1) }
}

async function established(cluster: KubeClient, name: string): Promise<KubeObject> {
  return await vi.waitFor(
    async () => {
      const definition = await cluster.get(RESOURCES[DEFINITIONS], { name })
      expect(JSON.stringify(definition['status'])).toContain('InitialNamesAccepted')
      return definition
    },
    { timeout: 30_000, interval: 20 },
  )
}

async function ensureAccount({ metadata: { namespace }, ...pod }: KubeObject): Promise<void> {
  const name = (pod['spec'] as { serviceAccountName?: string }).serviceAccountName ?? 'default'
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } }
  await createOnce(tenant.create(RESOURCES.serviceaccounts, { namespace }, body as KubeObject))
}

async function ensureNamespace(cluster: KubeClient, name: string): Promise<void> {
  await createOnce(cluster.create(namespaces, {}, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))
}

async function createOnce(created: Promise<unknown>): Promise<void> {
  await created.catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error
  })
}

function uidOf({ metadata: { uid = '' } }: KubeObject): { uid: string } {
  return { uid }
}

/** What others need comes first, as in the order of deciding; definitions before all. */
function ordered(): Manifest[] {
  const rank = ({ token }: Manifest): number => (token === DEFINITIONS ? -1 : decideRank(token))
  return MANIFESTS.toSorted((a, b) => rank(a) - rank(b))
}

/** Manifests by resource token, in the order of deciding, with their number. */
function groups(belongs: (manifest: Manifest) => boolean): [token: string, count: number, manifests: Manifest[]][] {
  const found = Map.groupBy(ordered().filter(belongs), ({ token }) => token)
  return [...found].map(([token, manifests]) => [token, manifests.length, manifests])
}

function labelOf({ file, object }: Manifest): string {
  return `${file}: ${String(object.kind)}/${(object.metadata.name ?? '').slice(0, 60)}`
}
