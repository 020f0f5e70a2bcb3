import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { systemClock } from '#libs/kernel'
import { type KubeClient, createKubeClient, isAlreadyExists, loadClusterConfig } from '#libs/kube'
import { type KubeObject, RESOURCES, resourcePath } from '#libs/kube-model'
import { type TenantConfig, parseTenantConfig } from '#libs/sync-config'
import { createLogger } from '#libs/telemetry'
import { type TenantContext, kindFor } from '#libs/translation'
import { memoryRelated } from '#libs/translation/testing'
import { type Apiserver, startApiserver } from '../../services/apiserver/role.ts'

/*
 * Pods of real projects: each goes into a tenant's API, which fills in what it does, is translated, and must be taken by
 * the host's API, which knows every field and refuses those that it does not.
 */
const { pods, namespaces } = RESOURCES
const FIXTURES = join(import.meta.dirname, '../fixtures/real')
const HOST_NAMESPACE = 'causeway-real'

let folder: string
let apiserver: Apiserver
let host: KubeClient
let tenant: KubeClient

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-real-'))
  const logger = createLogger({ service: 'test', level: 'silent' })
  const plain = { controllers: false }
  apiserver = await startApiserver({ dataDir: folder, logger, clusters: { host: plain, tenant: plain } })
  const open = async (name: string): Promise<KubeClient> =>
    createKubeClient(await loadClusterConfig({ path: apiserver.kubeconfigFile(name), env: {}, clock: systemClock }))
  ;[host, tenant] = await Promise.all([open('host'), open('tenant')])
  await host.create(namespaces, {}, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOST_NAMESPACE } })
  for (const object of objectsIn('_prereqs.yaml')) await createPrerequisite(object)
})

afterAll(async () => {
  await Promise.all([host, tenant].map((client) => client.close()))
  await apiserver.close()
  rmSync(folder, { recursive: true })
})

describe('pods of real projects', () => {
  const files = readdirSync(FIXTURES).filter((file) => podsIn(file).length > 0)
  test.each(files)('%s', async (file) => {
    for (const pod of podsIn(file)) {
      const virtual = await inTenant(pod)
      const copy = translated(virtual)
      const path = resourcePath(pods, { namespace: HOST_NAMESPACE })
      const query = { fieldValidation: 'Strict' }
      const made = (await host.request({ method: 'POST', path, query, body: copy })) as KubeObject
      expect(made.metadata).toMatchObject({ name: copy.metadata.name, namespace: HOST_NAMESPACE })
    }
  })

  test('are as many as there were', () => {
    expect(files.flatMap(podsIn).length).toBeGreaterThan(50)
  })
})

/** The tenant of the fixtures: everything that a pod may have crosses. */
const context: TenantContext = {
  name: 'real',
  hostNamespace: HOST_NAMESPACE,
  config: configOf({
    policies: { podSecurityStandard: 'privileged' },
    networking: { apiServer: { host: '10.96.0.20' }, dns: { address: '10.96.0.30' } },
  }),
}

function translated(virtual: KubeObject): KubeObject {
  const result = kindFor('pods')?.toHost({ virtual, tenant: context, related: memoryRelated() })
  if (result?.kind !== 'object') throw new Error(`it does not cross: ${result?.message ?? ''}`)
  return result.object
}

/** The pod as the tenant's API holds it. */
async function inTenant(pod: KubeObject): Promise<KubeObject> {
  const { namespace = 'default' } = pod.metadata
  await createOnce(
    tenant.create(namespaces, {}, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }),
  )
  const account = (pod['spec'] as { serviceAccountName?: string }).serviceAccountName ?? 'default'
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } }
  await createOnce(tenant.create(RESOURCES.serviceaccounts, { namespace }, body))
  return await tenant.create(pods, { namespace }, pod)
}

async function createPrerequisite(object: KubeObject): Promise<void> {
  const resource = Object.values(RESOURCES).find(({ kind }) => kind === object.kind)
  if (resource !== undefined)
    await createOnce(tenant.create(resource, { namespace: object.metadata.namespace }, object))
}

async function createOnce(created: Promise<unknown>): Promise<void> {
  await created.catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error
  })
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

type Template = { metadata?: KubeObject['metadata']; spec: { volumes?: object[] } }

function templateOf(object: KubeObject): Template | undefined {
  const spec = object['spec'] as { template?: Template; jobTemplate?: { spec: { template: Template } } } | undefined
  switch (String(object.kind)) {
    case 'Pod':
      return object as unknown as Template
    case 'CronJob':
      return spec?.jobTemplate?.spec.template
    case 'DaemonSet':
    case 'Deployment':
    case 'Job':
    case 'ReplicaSet':
    case 'StatefulSet':
      return spec?.template
    default:
      return undefined
  }
}

function objectsIn(file: string): KubeObject[] {
  if (!file.endsWith('.yaml')) return []
  return parseAllDocuments(readFileSync(join(FIXTURES, file), 'utf8')).flatMap((document) => {
    const object = document.toJS() as KubeObject | null
    return object === null || typeof object.kind !== 'string' ? [] : [object]
  })
}

function configOf(value: object): TenantConfig {
  const { config, problems } = parseTenantConfig(value)
  if (config === undefined) throw new Error(JSON.stringify(problems))
  return config
}
