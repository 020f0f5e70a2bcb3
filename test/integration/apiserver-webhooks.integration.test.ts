import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startApiserver } from '../../services/apiserver/role.ts'
import type { Apiserver } from '../../services/apiserver/role.ts'
import { createServerCredential } from '../../services/apiserver/tls/certificate.ts'
import { ApiClient } from './apiserver-client.ts'
import type { ApiObject } from './apiserver-client.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const HOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const MAPS = '/api/v1/namespaces/default/configmaps'

type Review = {
  uid: string
  operation: string
  name: string
  userInfo: { username: string }
  object: ApiObject | null
  oldObject: ApiObject | null
}

describe('validating webhooks', () => {
  let directory: string
  let server: Apiserver
  let client: ApiClient
  let hook: Server
  let url: string
  let caBundle: string
  let answer: (review: Review) => object
  const asked: Review[] = []

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'webhooks-'))
    server = await startApiserver({ dataDir: directory, clusters: { main: { controllers: false } }, logger: silent })
    client = new ApiClient(server.kubeconfig('main'))
    const credential = createServerCredential({ hosts: ['127.0.0.1'], now: Date.now(), days: 1 })
    caBundle = Buffer.from(credential.authority).toString('base64')
    hook = createServer({ cert: credential.server.certificate, key: credential.server.key }, (request, response) => {
      let text = ''
      request.on('data', (part) => (text += String(part)))
      request.on('end', () => {
        const review = (JSON.parse(text) as { request: Review }).request
        asked.push(review)
        response.end(JSON.stringify({ response: { uid: review.uid, ...answer(review) } }))
      })
    })
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
    url = `https://127.0.0.1:${(hook.address() as AddressInfo).port}/validate`
  })
  afterEach(async () => {
    await client.call('DELETE', `${HOOKS}/guard`)
    asked.length = 0
  })
  afterAll(async () => {
    hook.close()
    hook.closeAllConnections()
    await client.close()
    await server.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const guard = (webhook: object = {}): Promise<unknown> =>
    client.call('POST', HOOKS, {
      metadata: { name: 'guard' },
      webhooks: [
        {
          name: 'guard.example.com',
          clientConfig: { url, caBundle },
          rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          ...webhook,
        },
      ],
    })
  const map = (name: string, data: object = {}): object => ({ metadata: { name }, data })

  it('refuse writes in their own words', async () => {
    answer = () => ({ allowed: false, status: { code: 403, message: 'not on a Friday', reason: 'Forbidden' } })
    await guard()
    const { status, body } = await client.call('POST', MAPS, map('a'))
    expect([status, body['message'], body['reason']]).toEqual([
      403,
      'admission webhook "guard.example.com" denied the request: not on a Friday',
      'Forbidden',
    ])
    expect((await client.call('GET', `${MAPS}/a`)).status).toBe(404)
  })

  it('are told who changes what, and let pass what they like', async () => {
    answer = () => ({ allowed: true })
    await guard()
    await client.call('POST', MAPS, map('b', { k: '1' }))
    const patch = { data: { k: '2' } }
    await client.call('PATCH', `${MAPS}/b`, patch, { 'content-type': 'application/merge-patch+json' })
    await client.call('DELETE', `${MAPS}/b`)
    expect(asked.map(({ operation, name }) => `${operation} ${name}`)).toEqual(['CREATE b', 'UPDATE b', 'DELETE b'])
    expect(asked[1]).toMatchObject({
      object: { data: { k: '2' } },
      oldObject: { data: { k: '1' } },
      userInfo: { username: 'admin' },
    })
    expect([asked[0]?.oldObject, asked[2]?.object]).toEqual([null, null])
    expect((await client.call('GET', `${MAPS}/b`)).status).toBe(404)
  })

  it('fail or are passed over when they cannot be reached, as their policy says', async () => {
    const clientConfig = { url: 'https://127.0.0.1:1/', caBundle }
    await guard({ clientConfig })
    const { status, body } = await client.call('POST', MAPS, map('c'))
    expect([status, body['reason']]).toEqual([500, 'InternalError'])
    expect(body['message']).toContain(
      'Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook',
    )
    await client.call('DELETE', `${HOOKS}/guard`)
    await guard({ clientConfig, failurePolicy: 'Ignore' })
    expect((await client.call('POST', MAPS, map('c'))).status).toBe(201)
  })

  it('are asked only about what their rules, selectors and conditions name', async () => {
    answer = () => ({ allowed: false })
    await guard({
      objectSelector: { matchLabels: { guarded: 'yes' } },
      matchConditions: [{ name: 'not-free', expression: "object.metadata.name != 'free'" }],
    })
    expect((await client.call('POST', MAPS, map('d'))).status).toBe(201)
    const labelled = (name: string): object => ({ metadata: { name, labels: { guarded: 'yes' } } })
    expect((await client.call('POST', MAPS, labelled('free'))).status).toBe(201)
    const { status, body } = await client.call('POST', MAPS, labelled('e'))
    expect([status, body['message']]).toEqual([
      400,
      'admission webhook "guard.example.com" denied the request without explanation',
    ])
    expect((await client.call('POST', '/api/v1/namespaces/default/secrets', labelled('s'))).status).toBe(201)
  })
})

describe('tokens of service accounts', () => {
  it('open the API, as their account', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'tokens-'))
    const server = await startApiserver({ dataDir: directory, clusters: { main: {} }, logger: silent })
    const client = new ApiClient(server.kubeconfig('main'))
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await client.call('POST', accounts, { metadata: { name: 'robot' } })
    const made = await client.call('POST', `${accounts}/robot/token`, { spec: {} })
    const { token } = made.body['status'] as { token: string }
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const { body } = await client.call('POST', path, review, { authorization: `Bearer ${token}` })
    expect(body['status']).toMatchObject({ userInfo: { username: 'system:serviceaccount:default:robot' } })
    const tokenReview = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', spec: { token } }
    const reviewed = await client.call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', tokenReview)
    expect(reviewed.body['status']).toMatchObject({
      authenticated: true,
      audiences: ['https://kubernetes.default.svc'],
    })
    await client.call('DELETE', `${accounts}/robot`)
    const late = await client.call('GET', '/api/v1/pods', undefined, { authorization: `Bearer ${token}` })
    expect(late.status).toBe(401)
    await client.close()
    await server.close()
    rmSync(directory, { recursive: true, force: true })
  })
})
