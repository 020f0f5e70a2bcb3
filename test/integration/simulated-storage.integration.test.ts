import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLogger } from '#libs/telemetry'
import { startApiserver } from '../../services/apiserver/role.ts'
import type { Apiserver } from '../../services/apiserver/role.ts'
import { startSimulatedNodes } from '../../services/simulated-nodes/role.ts'
import type { SimulatedNodes } from '../../services/simulated-nodes/role.ts'
import { ApiClient } from './apiserver-client.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims'
const PODS = '/api/v1/namespaces/default/pods'

describe('simulated storage', () => {
  let directory: string
  let server: Apiserver
  let nodes: SimulatedNodes
  let client: ApiClient

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'simulated-storage-'))
    server = await startApiserver({ dataDir: directory, clusters: { host: {} }, logger: silent })
    const kubeconfigPath = server.kubeconfigFile('host')
    nodes = startSimulatedNodes({
      kubeconfigPath,
      nodes: 1,
      logger: createLogger({ service: 'test', level: 'silent' }),
    })
    await nodes.ready
    client = new ApiClient(server.kubeconfig('host'))
  })
  afterAll(async () => {
    await nodes.close()
    await client.close()
    await server.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const phase = async (path: string): Promise<string | number> => {
    const { status, body } = await client.call('GET', path)
    return status === 200 ? ((body['status'] as { phase?: string }).phase ?? '') : status
  }
  const claim = (name: string, spec: object = {}): object => ({
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  })
  const pod = (name: string, claimName: string): object => ({
    metadata: { name },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
    },
  })

  it('binds claims of the default class, and takes the volume away with the claim', async () => {
    await client.call('POST', CLAIMS, claim('a'))
    await expect.poll(() => phase(`${CLAIMS}/a`)).toBe('Bound')
    const { body } = await client.call('GET', `${CLAIMS}/a`)
    expect(body['spec']).toMatchObject({ storageClassName: 'standard' })
    expect(body['status']).toMatchObject({ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] })
    const volume = `/api/v1/persistentvolumes/${(body['spec'] as { volumeName: string }).volumeName}`
    expect(await phase(volume)).toBe('Bound')
    await client.call('DELETE', `${CLAIMS}/a`)
    await expect.poll(() => phase(`${CLAIMS}/a`)).toBe(404)
    await expect.poll(() => phase(volume)).toBe(404)
  })

  it('holds a claim while a pod mounts it', async () => {
    await client.call('POST', PODS, pod('p', 'b'))
    await expect
      .poll(async () => JSON.stringify((await client.call('GET', `${PODS}/p`)).body['status']))
      .toContain('persistentvolumeclaim \\"b\\" not found')
    await client.call('POST', CLAIMS, claim('b'))
    await expect.poll(() => phase(`${PODS}/p`)).toBe('Running')
    await client.call('DELETE', `${CLAIMS}/b`)
    expect(await phase(`${CLAIMS}/b`)).toBe('Bound')
    await client.call('DELETE', `${PODS}/p`)
    await expect.poll(() => phase(`${CLAIMS}/b`)).toBe(404)
  })

  it('waits for the first pod where the class wants that', async () => {
    await client.call('POST', '/apis/storage.k8s.io/v1/storageclasses', {
      metadata: { name: 'late' },
      provisioner: 'causeway.dev/simulated-storage',
      volumeBindingMode: 'WaitForFirstConsumer',
    })
    await client.call('POST', CLAIMS, claim('c', { storageClassName: 'late' }))
    await client.call('POST', CLAIMS, claim('d'))
    await expect.poll(() => phase(`${CLAIMS}/d`)).toBe('Bound')
    expect(await phase(`${CLAIMS}/c`)).toBe('Pending')
    await client.call('POST', PODS, pod('q', 'c'))
    await expect.poll(() => phase(`${CLAIMS}/c`)).toBe('Bound')
    await expect.poll(() => phase(`${PODS}/q`)).toBe('Running')
  })
})
