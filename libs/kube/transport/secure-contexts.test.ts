import { rootCertificates } from 'node:tls'
import { expect, test } from 'vitest'
import { secureContextOf } from './secure-contexts.ts'

const [one = '', other = ''] = rootCertificates

test('clusters of one authority share what TLS needs, whichever file it was read from', () => {
  expect(secureContextOf({ ca: Buffer.from(one) })).toBe(secureContextOf({ ca: one }))
  expect(secureContextOf({ ca: one, servername: 'a' })).toBe(secureContextOf({ ca: one }))
})

test('clusters of different authorities share nothing', () => {
  const shared = secureContextOf({ ca: one })
  expect(shared).toBeDefined()
  expect(secureContextOf({ ca: other })).not.toBe(shared)
  expect(secureContextOf({})).not.toBe(shared)
})

test('material that cannot be used gives none, and connecting says why', () => {
  expect(secureContextOf({ ca: one, cert: 'x', key: 'y' })).toBeUndefined()
})
