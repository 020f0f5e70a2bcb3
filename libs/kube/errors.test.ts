import { describe, expect, test } from 'vitest'
import {
  KubeConnectionError,
  KubeProtocolError,
  apiErrorFrom,
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isTooManyRequests,
  isTransient,
  isUnauthorized,
} from './errors.ts'

const predicates = {
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isTooManyRequests,
  isTransient,
  isUnauthorized,
}

const answered = (statusCode: number, reason = '', details = {}): Error =>
  apiErrorFrom('GET /x', { statusCode, body: JSON.stringify({ kind: 'Status', reason, details }) })

describe('predicates', () => {
  test.each<[string, unknown, (keyof typeof predicates)[]]>([
    ['400', answered(400), ['isInvalid']],
    ['401', answered(401), ['isUnauthorized']],
    ['403', answered(403), ['isForbidden']],
    ['404', answered(404), ['isNotFound']],
    ['409 because the name is taken', answered(409, 'AlreadyExists'), ['isAlreadyExists']],
    ['409 because a precondition does not hold', answered(409, 'Conflict'), ['isConflict']],
    ['410', answered(410), ['isExpired']],
    ['an expired reason under another code', answered(500, 'Expired'), ['isExpired', 'isTransient']],
    ['422', answered(422, 'Invalid', { causes: [{ field: 'spec.x' }] }), ['isInvalid']],
    ['422 for another uid', answered(422, 'Invalid', { causes: [{ field: 'metadata.uid' }] }), ['isConflict']],
    ['429', answered(429), ['isTooManyRequests', 'isTransient']],
    ['500', answered(500), ['isTransient']],
    ['503', answered(503), ['isTransient']],
    ['no connection', new KubeConnectionError('x', { server: 'x', reason: 'ECONNREFUSED' }), ['isTransient']],
    ['a corrupt answer', new KubeProtocolError('x', { reason: 'Corrupt' }), ['isTransient']],
    ['an answer that is too large', new KubeProtocolError('x', { reason: 'TooLarge' }), []],
    ['something else', new Error('x'), []],
  ])('tell what %s is', (_, error, expected) => {
    const holding = Object.entries(predicates).flatMap(([name, holds]) => (holds(error) ? [name] : []))
    expect(holding).toEqual(expected)
  })
})

describe('apiErrorFrom', () => {
  test('takes the wait from the header, else from the Status', () => {
    const body = JSON.stringify({ kind: 'Status', details: { retryAfterSeconds: 2 } })
    expect(apiErrorFrom('x', { statusCode: 429, body }).retryAfterMs).toBe(2_000)
    expect(apiErrorFrom('x', { statusCode: 429, body, retryAfter: '5' }).retryAfterMs).toBe(5_000)
    expect(apiErrorFrom('x', { statusCode: 429, body: '', retryAfter: 'Wed, 21 Oct' }).retryAfterMs).toBeUndefined()
  })
})
