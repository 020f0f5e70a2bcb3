import { describe, expect, test } from 'vitest'
import type { JsonObject, KubeObject, ObjectRef } from '#libs/kube-model'
import { type TenantConfig, parseTenantConfig } from '#libs/sync-config'
import { decideFor } from '../../registry.ts'
import { Simulation, TENANT, objectOf } from '../../testing/index.ts'

const INGRESSES = 'ingresses.networking.k8s.io'
const CLASSES = 'ingressclasses.networking.k8s.io'
const ingress: ObjectRef = { resource: INGRESSES, namespace: 'default', name: 'shop' }
const secretRef = (name: string): ObjectRef => ({ resource: 'secrets', namespace: 'default', name })

function configOf(sync: JsonObject): TenantConfig {
  const { config } = parseTenantConfig({ sync })
  if (config === undefined) throw new Error('not a configuration')
  return config
}

const ON = configOf({ toHost: { ingresses: { enabled: true } } })
const shop = (annotations: JsonObject, spec: JsonObject): KubeObject =>
  objectOf('Ingress', 'shop', { metadata: { annotations }, spec })

function simulated(object: KubeObject, config = ON): Simulation {
  const simulation = new Simulation({ ...TENANT, config })
  for (const name of ['certificate', 'users', 'idle']) {
    simulation.put('virtual', 'secrets', objectOf('Secret', name, { data: { key: 'eA==' } }))
  }
  simulation.put('virtual', INGRESSES, object)
  simulation.settle()
  return simulation
}

const secretsOnHost = (simulation: Simulation): string[] =>
  ['certificate', 'users', 'idle'].filter((name) => simulation.get('host', simulation.hostRef(secretRef(name))))

describe('an Ingress', () => {
  const auth = { 'nginx.ingress.kubernetes.io/auth-secret': 'users' }
  const tls = { tls: [{ secretName: 'certificate' }] }

  test('brings the Secrets that it names in fields and annotations, and no others', () => {
    expect(secretsOnHost(simulated(shop(auth, tls)))).toEqual(['certificate', 'users'])
  })

  test('lets a Secret go that it no longer names, and all with itself', () => {
    const simulation = simulated(shop(auth, tls))
    simulation.change('virtual', ingress, { spec: { tls: null } })
    simulation.settle()
    expect(secretsOnHost(simulation)).toEqual(['users'])
    simulation.remove('virtual', ingress)
    simulation.settle()
    expect(secretsOnHost(simulation)).toEqual([])
  })

  test('lets its Secrets go where its kind is switched off', () => {
    const simulation = simulated(shop(auth, tls))
    const view = simulation.view(secretRef('certificate'))
    expect(decideFor(view)).toEqual([])
    expect(decideFor({ ...view, tenant: { ...view.tenant, config: configOf({}) } })).toMatchObject([
      { rule: 'unused', write: { op: 'delete' } },
    ])
  })

  test('is created and changed after what it refers to', () => {
    const simulation = simulated(shop(auth, tls))
    const host = (name: string) => ({ side: 'host', ...simulation.hostRef(secretRef(name)) })
    simulation.remove('host', simulation.hostRef(ingress))
    const needs = [host('certificate'), host('users')]
    expect(simulation.decide(ingress)).toMatchObject([{ rule: 'create', needs }])
    simulation.settle()
    simulation.change('virtual', ingress, { spec: { tls: [{ secretName: 'idle' }] } })
    expect(simulation.decide(ingress)).toMatchObject([{ rule: 'update', needs: [host('idle'), host('users')] }])
  })

  test('waits a moment for a Secret that is not seen yet', () => {
    const simulation = new Simulation({ ...TENANT, config: ON })
    simulation.put('virtual', INGRESSES, shop({}, tls))
    expect(decideFor({ ...simulation.view(ingress), waitedMs: 0 })).toMatchObject([{ kind: 'wait' }])
    expect(simulation.decide(ingress)).toMatchObject([{ rule: 'create' }])
  })
})

describe('the class of an Ingress', () => {
  const both = configOf({ toHost: { ingresses: { enabled: true } }, fromHost: { ingressClasses: { enabled: true } } })
  const classOf = (name: string) => ({ metadata: { name }, spec: { controller: 'c' } }) as KubeObject

  test.each<[string, KubeObject]>([
    ['by field', shop({}, { ingressClassName: 'nginx' })],
    ['by annotation', shop({ 'kubernetes.io/ingress.class': 'nginx' }, {})],
  ])('must be one of the host’s that the tenant sees, %s', (_title, object) => {
    const simulation = simulated(object, both)
    expect(simulation.decide(ingress)).toMatchObject([{ kind: 'reject', reason: 'UnknownClass' }])
    simulation.put('host', CLASSES, classOf('nginx'))
    simulation.settle()
    expect(simulation.get('host', simulation.hostRef(ingress))).toBeDefined()
  })

  test('is none where the tenant made one of that name itself', () => {
    const simulation = simulated(shop({}, { ingressClassName: 'own' }), both)
    simulation.put('virtual', CLASSES, classOf('own'))
    simulation.settle()
    expect(simulation.decide(ingress)).toMatchObject([{ kind: 'reject', reason: 'UnknownClass' }])
  })

  test('is anything where the tenant sees no classes of the host', () => {
    const simulation = simulated(shop({}, { ingressClassName: 'whatever' }))
    expect(simulation.get('host', simulation.hostRef(ingress))?.spec).toEqual({ ingressClassName: 'whatever' })
  })
})
