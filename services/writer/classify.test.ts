import { expect, test } from 'vitest'
import type { Write } from '#libs/events'
import { KubeApiError, KubeConnectionError, type KubeStatus } from '#libs/kube'
import { classify, isAbsent } from './classify.ts'

/** Status bodies as a kube-apiserver 1.36 answered them, where not said otherwise. */
type Case = { status: KubeStatus; on?: Write['op']; patchType?: string; means: string }

const forbidden = (name: string, why: string): KubeStatus => ({
  code: 403,
  reason: 'Forbidden',
  message: `pods "${name}" is forbidden: ${why}`,
  details: { name, kind: 'pods' },
})

const cases: Case[] = [
  { status: { code: 401, reason: 'Unauthorized', message: 'Unauthorized' }, means: 'parked Unauthorized' },
  {
    status: forbidden('a', 'exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'),
    means: 'parked QuotaExceeded',
  },
  { status: forbidden('a', 'failed quota: q: must specify requests.cpu for: c'), means: 'parked QuotaExceeded' },
  { status: forbidden('b', 'maximum cpu usage per Container is 1, but limit is 2'), means: 'parked AdmissionDenied' },
  { status: forbidden('b', 'no PriorityClass with name nope was found'), means: 'parked AdmissionDenied' },
  {
    status: forbidden('b', 'violates PodSecurity "restricted:latest": privileged (container "c" must not set …)'),
    means: 'parked AdmissionDenied',
  },
  {
    status: { code: 400, reason: 'BadRequest', message: 'admission webhook "check.example" denied the request: no' },
    means: 'parked AdmissionDenied',
  },
  {
    status: {
      code: 403,
      reason: 'Forbidden',
      message: 'pods is forbidden: User "syncer" cannot create resource "pods" in API group "" in the namespace "x"',
      details: { kind: 'pods' },
    },
    means: 'parked Forbidden',
  },
  {
    status: {
      code: 403,
      reason: 'Forbidden',
      message:
        'configmaps "b" is forbidden: unable to create new content in namespace x because it is being terminated',
      details: {
        name: 'b',
        kind: 'configmaps',
        causes: [{ reason: 'NamespaceTerminating', message: 'namespace x is being terminated' }],
      },
    },
    means: 'parked NamespaceTerminating',
  },
  {
    status: {
      code: 404,
      reason: 'NotFound',
      message: 'namespaces "no-such-ns-x" not found',
      details: { name: 'no-such-ns-x', kind: 'namespaces' },
    },
    means: 'parked NamespaceMissing',
  },
  {
    status: { code: 404, reason: 'NotFound', message: 'pods "x" not found', details: { name: 'x', kind: 'pods' } },
    on: 'patch',
    means: 'conflict',
  },
  {
    status: { code: 404, reason: 'NotFound', message: 'the server could not find the requested resource', details: {} },
    on: 'patch',
    means: 'parked Unsupported',
  },
  { status: { code: 404, message: '404 page not found' }, on: 'delete', means: 'retry failed' },
  {
    status: {
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again',
    },
    on: 'patch',
    means: 'conflict',
  },
  {
    status: { code: 409, reason: 'Conflict', message: 'Operation cannot be fulfilled on resourcequotas "q": …' },
    on: 'create',
    means: 'retry failed',
  },
  {
    status: {
      code: 422,
      reason: 'Invalid',
      message:
        'Pod "p" is invalid: metadata.uid: Invalid value: "11111111-2222-3333-4444-555555555555": field is immutable',
      details: { name: 'p', kind: 'Pod', causes: [{ reason: 'FieldValueInvalid' }] },
    },
    on: 'patch',
    means: 'conflict',
  },
  {
    status: {
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
      details: {},
    },
    on: 'patch',
    patchType: 'json',
    means: 'conflict',
  },
  {
    status: {
      code: 422,
      reason: 'Invalid',
      message:
        'Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated',
      details: { name: 'b', kind: 'Service', causes: [{ reason: 'FieldValueInvalid' }] },
    },
    means: 'parked Invalid',
  },
  {
    status: { code: 413, reason: 'RequestEntityTooLarge', message: 'Request entity too large: limit is 3145728' },
    means: 'parked Invalid',
  },
  {
    status: { code: 405, reason: 'MethodNotAllowed', message: 'the server does not allow this method …', details: {} },
    means: 'parked Unsupported',
  },
  { status: { code: 429, reason: 'TooManyRequests', message: 'storage is initializing' }, means: 'retry overloaded' },
  { status: { code: 500, message: 'failed calling webhook "x": timeout' }, means: 'retry failed' },
  { status: { code: 503, reason: 'ServiceUnavailable', message: 'not ready' }, means: 'retry failed' },
  { status: { code: 504, reason: 'Timeout', message: 'Timeout: request did not complete' }, means: 'retry failed' },
]

test.each(cases)('$status.code "$status.message" means $means', ({ status, on = 'create', patchType, means }) => {
  const attempt = classify(errorOf(status), { op: on, ...(patchType === undefined ? {} : { patchType }) })
  const detail = attempt.result === 'retry' ? attempt.cause : (attempt.reason ?? '')
  expect(`${attempt.result} ${detail}`.trim()).toBe(means)
  expect(attempt.message).toBe(status.message)
})

test('passes on how long the server asks to wait', () => {
  const error = new KubeApiError('POST /x: 429 later', { statusCode: 429, retryAfterMs: 2_000 })
  expect(classify(error, { op: 'create' })).toMatchObject({ result: 'retry', retryAfterMs: 2_000 })
})

test('a server that cannot be reached is tried again', () => {
  const error = new KubeConnectionError('127.0.0.1:1: ECONNREFUSED', { server: '127.0.0.1:1', reason: 'ECONNREFUSED' })
  expect(classify(error, { op: 'delete' })).toMatchObject({ result: 'retry', cause: 'failed' })
})

test('a fault of ours is thrown on', () => {
  expect(() => classify(new TypeError('x is not a function'), { op: 'create' })).toThrow(TypeError)
})

test.each([
  { status: { code: 404, reason: 'NotFound', details: { name: 'x', kind: 'pods' } }, absent: true },
  { status: { code: 404, reason: 'NotFound', details: {} }, absent: false },
  { status: { code: 404 }, absent: false },
  { status: { code: 410, reason: 'Gone', details: { name: 'x' } }, absent: false },
  { status: { code: 403, reason: 'Forbidden', details: { name: 'x' } }, absent: false },
])('$status says that the object is absent: $absent', ({ status, absent }) => {
  expect(isAbsent(errorOf(status))).toBe(absent)
})

function errorOf(status: KubeStatus): KubeApiError {
  return new KubeApiError(`POST /api/v1/pods: ${status.code} ${status.message}`, {
    statusCode: status.code ?? 0,
    reason: status.reason,
    details: status.details,
  })
}

test('a custom resource without its definition is missing, and no sign of a server that is down', () => {
  const answer = (path: string) =>
    new KubeApiError(`POST ${path}: 404 404 page not found`, { statusCode: 404, reason: '' })
  const gateways = answer('https://h:6443/apis/gateway.networking.k8s.io/v1/namespaces/x/gateways')
  expect(classify(gateways, { op: 'create' })).toMatchObject({ result: 'parked', reason: 'Unsupported' })
  for (const path of ['/api/v1/namespaces/x/pods', '/apis/networking.k8s.io/v1/namespaces/x/ingresses'])
    expect(classify(answer(path), { op: 'create' })).toMatchObject({ result: 'retry', isUp: false })
})
