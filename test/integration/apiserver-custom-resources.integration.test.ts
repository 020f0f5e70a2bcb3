import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApiserver } from '../../services/apiserver/role.ts'
import type { Apiserver } from '../../services/apiserver/role.ts'
import { ApiClient } from './apiserver-client.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

function definition(plural: string, kind: string, names: object = {}): object {
  return {
    metadata: { name: `${plural}.shop.example` },
    spec: {
      group: 'shop.example',
      scope: 'Namespaced',
      names: { plural, kind, ...names },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object', properties: { size: { type: 'integer', default: 1 } } } },
            },
          },
          selectableFields: [{ jsonPath: '.spec.size' }],
        },
      ],
    },
  }
}

describe('custom resources', () => {
  let directory: string
  let server: Apiserver
  let client: ApiClient

  const start = async (): Promise<void> => {
    server = await startApiserver({ dataDir: directory, clusters: { main: {} }, logger: silent })
    client = new ApiClient(server.kubeconfig('main'))
  }
  const stop = async (): Promise<void> => {
    await client.close()
    await server.close()
  }
  const conditions = async (name: string): Promise<Record<string, string>> => {
    const { body } = await client.call('GET', `${DEFINITIONS}/${name}`)
    const { conditions: list } = (body['status'] ?? {}) as {
      conditions?: { type: string; status: string; reason: string }[]
    }
    return Object.fromEntries((list ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]))
  }

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'custom-resources-'))
    await start()
  })
  afterAll(async () => {
    await stop()
    rmSync(directory, { recursive: true, force: true })
  })

  const carts = '/apis/shop.example/v1/namespaces/default/carts'

  it('are served again after a restart, with their objects', async () => {
    await client.call('POST', DEFINITIONS, definition('carts', 'Cart', { shortNames: ['ca'] }))
    await expect
      .poll(() => conditions('carts.shop.example'))
      .toMatchObject({ Established: 'True InitialNamesAccepted' })
    const cart = { apiVersion: 'shop.example/v1', kind: 'Cart', metadata: { name: 'a' }, spec: {} }
    expect((await client.call('POST', carts, cart)).body['spec']).toEqual({ size: 1 })
    await stop()
    await start()
    expect((await client.call('GET', `${carts}/a`)).body['spec']).toEqual({ size: 1 })
    expect((await client.call('GET', `${carts}?fieldSelector=spec.size%3D1`)).body['items']).toHaveLength(1)
    expect((await client.call('GET', `${carts}?fieldSelector=spec.size%3D2`)).body['items']).toHaveLength(0)
  })

  it('wait for names that another definition of the group uses', async () => {
    await client.call('POST', DEFINITIONS, definition('caves', 'Cave', { shortNames: ['ca'] }))
    await expect
      .poll(() => conditions('caves.shop.example'))
      .toEqual({ NamesAccepted: 'False ShortNamesConflict', Established: 'False NotAccepted' })
    expect((await client.call('GET', '/apis/shop.example/v1/caves')).status).toBe(404)
  })

  it('keep their definition until the last finalizer has gone, and then set its names free', async () => {
    const cart = {
      apiVersion: 'shop.example/v1',
      kind: 'Cart',
      metadata: { name: 'held', finalizers: ['shop.example/hold'] },
    }
    await client.call('POST', carts, cart)
    await client.call('DELETE', `${DEFINITIONS}/carts.shop.example`)
    await expect.poll(async () => (await client.call('GET', `${carts}/a`)).status).toBe(404)
    expect((await client.call('POST', carts, { ...cart, metadata: { name: 'late' } })).status).toBe(405)
    const patch = { metadata: { finalizers: null } }
    await client.call('PATCH', `${carts}/held`, patch, { 'content-type': 'application/merge-patch+json' })
    await expect.poll(async () => (await client.call('GET', `${DEFINITIONS}/carts.shop.example`)).status).toBe(404)
    await expect
      .poll(() => conditions('caves.shop.example'))
      .toMatchObject({ Established: 'True InitialNamesAccepted' })
  })

  it('are collected with their owners and with their namespace', async () => {
    const caves = '/apis/shop.example/v1/namespaces/tmp/caves'
    await client.call('POST', '/api/v1/namespaces', { metadata: { name: 'tmp' } })
    const make = (name: string, metadata: object = {}): Promise<{ body: { metadata: { [field: string]: unknown } } }> =>
      client.call('POST', caves, { apiVersion: 'shop.example/v1', kind: 'Cave', metadata: { name, ...metadata } })
    const owner = await make('owner')
    const reference = { apiVersion: 'shop.example/v1', kind: 'Cave', name: 'owner', uid: owner.body.metadata['uid'] }
    await make('owned', { ownerReferences: [reference] })
    await make('alone')
    await client.call('DELETE', `${caves}/owner`)
    await expect.poll(async () => (await client.call('GET', `${caves}/owned`)).status).toBe(404)
    expect((await client.call('GET', `${caves}/alone`)).status).toBe(200)
    await client.call('DELETE', '/api/v1/namespaces/tmp')
    await expect.poll(async () => (await client.call('GET', '/api/v1/namespaces/tmp')).status).toBe(404)
    expect((await client.call('GET', `${caves}/alone`)).status).toBe(404)
  })
})
