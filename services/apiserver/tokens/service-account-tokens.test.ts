import { describe, expect, it } from 'vitest'
import { createTestCluster } from '../registry/testing.ts'
import { JwtSigner, newSigningKey } from './jwt.ts'
import { ISSUER, ServiceAccountTokens } from './service-account-tokens.ts'

const START = 1_700_000_000_000

function setUp() {
  let now = START
  const cluster = createTestCluster()
  const clock = { now: () => now, sleep: () => Promise.resolve() }
  const tokens = new ServiceAccountTokens({ store: cluster.store, clock, newUid: () => 'id' })
  const made = cluster.api.create('serviceaccounts', 'default', { metadata: { name: 'builder' } })
  const account = { name: 'builder', uid: made.metadata.uid ?? '' }
  const issue = (audiences = [ISSUER], bound?: { kind: 'Secret'; name: string; uid: string }) =>
    tokens.issue(
      { namespace: 'default', account, ...(bound === undefined ? {} : { bound }) },
      { audiences, seconds: 600 },
    )
  const pass = (ms: number): void => void (now += ms)
  return { cluster, tokens, account, issue, pass }
}

describe('service account tokens', () => {
  it('stand for their account until they end', () => {
    const { tokens, account, issue, pass } = setUp()
    const { token, expiresAt } = issue()
    expect(expiresAt).toBe(START + 600_000)
    expect(tokens.check(token)).toMatchObject({
      identity: {
        username: 'system:serviceaccount:default:builder',
        uid: account.uid,
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      },
      audiences: [ISSUER],
    })
    pass(600_000)
    expect(tokens.check(token)).toEqual({ problem: '[invalid bearer token, service account token has expired]' })
  })

  it('are valid for their audiences only', () => {
    const { tokens, issue } = setUp()
    const { token } = issue(['vault'])
    expect(tokens.check(token)).toHaveProperty('problem')
    expect(tokens.check(token, ['vault', 'other'])).toMatchObject({ audiences: ['vault'] })
  })

  it('die with the account and with what they are bound to, even when the name is used again', () => {
    const { cluster, tokens, issue } = setUp()
    const secret = { metadata: { name: 's' } }
    const made = cluster.api.create('secrets', 'default', secret)
    const bound = issue([ISSUER], { kind: 'Secret', name: 's', uid: made.metadata.uid ?? '' }).token
    const free = issue().token
    expect(tokens.check(bound)).toHaveProperty('identity')
    cluster.api.delete('secrets', 'default', 's')
    cluster.api.create('secrets', 'default', secret)
    expect(tokens.check(bound)).toHaveProperty('problem')
    expect(tokens.check(free)).toHaveProperty('identity')
    cluster.api.delete('serviceaccounts', 'default', 'builder')
    expect(tokens.check(free)).toHaveProperty('problem')
  })

  it('are refused when another key has signed them or they are no tokens', () => {
    const { tokens, issue } = setUp()
    const claims = issue().token.split('.')[1] ?? ''
    const forged = new JwtSigner(newSigningKey()).sign(
      JSON.parse(Buffer.from(claims, 'base64url').toString()) as object as Record<string, unknown>,
    )
    for (const token of [forged, 'wrong', 'a.b.c', `${issue().token}x.y`]) {
      expect(tokens.check(token)).toEqual({ problem: 'invalid bearer token' })
    }
  })

  it('are known again after a restart', () => {
    const { cluster, issue } = setUp()
    const { token } = issue()
    const clock = { now: () => START, sleep: () => Promise.resolve() }
    const again = new ServiceAccountTokens({ store: cluster.store, clock, newUid: () => 'id' })
    expect(again.check(token)).toHaveProperty('identity')
  })
})
