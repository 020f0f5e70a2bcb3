import { expect, test } from 'vitest'
import { parseTenantConfig } from '#libs/sync-config'
import { kindAndName, resourceNamed } from './resource-named.ts'
import { syncOfKind } from './sync-settings.ts'

test.each([
  ['po', 'pods'],
  ['pod', 'pods'],
  ['Pods', 'pods'],
  ['PersistentVolumeClaim', 'persistentvolumeclaims'],
  ['pvc', 'persistentvolumeclaims'],
  ['ing', 'ingresses.networking.k8s.io'],
  ['ingresses', 'ingresses.networking.k8s.io'],
  ['ingresses.networking.k8s.io', 'ingresses.networking.k8s.io'],
  ['deploy', 'deployments.apps'],
  ['httproute', 'httproutes.gateway.networking.k8s.io'],
  ['widgets', undefined],
])('%s is %s', (word, token) => {
  expect(resourceNamed(word)?.token).toBe(token)
})

test.each(['widget', 'widgets', 'widgets.tests.example.com'])('%s is what the configuration names', (word) => {
  const { config } = parseTenantConfig({
    sync: { toHost: { customResources: { 'widgets.tests.example.com': { enabled: true } } } },
  })
  expect(resourceNamed(word, config)).toMatchObject({
    token: 'widgets.tests.example.com',
    info: { group: 'tests.example.com', plural: 'widgets', namespaced: true },
  })
})

test.each([
  ['pod/web', { kind: 'pod', name: 'web' }],
  ['pod', undefined],
  ['a/b/c', undefined],
  ['/x', undefined],
])('%s taken apart', (text, parts) => {
  expect(kindAndName(text)).toEqual(parts)
})

const parsed = (written: object) => {
  const { config } = parseTenantConfig(written)
  if (config === undefined) throw new Error('the configuration is invalid')
  return { config, written }
}

test('names the key that switches a kind, and that nobody has set it', () => {
  const { config, written } = parsed({})
  expect(syncOfKind('pods', config, written)).toEqual({
    toHost: { enabled: true, settings: [{ key: 'sync.toHost.pods.enabled', enabled: true, from: 'default' }] },
  })
})

test('names each of several keys that a kind depends on', () => {
  const { config, written } = parsed({ sync: { toHost: { services: { enabled: false } } } })
  expect(syncOfKind('endpoints', config, written).toHost).toEqual({
    enabled: false,
    settings: expect.arrayContaining([
      { key: 'sync.toHost.services.enabled', enabled: false, from: 'configuration' },
      expect.objectContaining({ key: 'sync.toHost.endpoints.enabled' }),
    ]),
  })
})

test('names both directions of a kind that has originals on both sides', () => {
  const { config, written } = parsed({})
  const both = syncOfKind('storageclasses.storage.k8s.io', config, written)
  expect(both.toHost?.settings[0]?.key).toBe('sync.toHost.storageClasses.enabled')
  expect(both.fromHost?.settings[0]?.key).toBe('sync.fromHost.storageClasses.enabled')
})

test('a kind that never crosses has no settings', () => {
  const { config, written } = parsed({})
  expect(syncOfKind('deployments.apps', config, written)).toEqual({})
})

test('private nodes keep all from crossing to the host', () => {
  const { config, written } = parsed({ nodes: { model: 'private' } })
  expect(syncOfKind('pods', config, written).toHost).toMatchObject({
    enabled: false,
    settings: expect.arrayContaining([{ key: 'nodes.model: private', enabled: false, from: 'configuration' }]),
  })
})
