import { expect, test } from 'vitest'
import { CausewayError } from '#libs/kernel'
import { KubeApiError, KubeConnectionError, KubeconfigError } from '#libs/kube'
import { failureState, remedyFor } from './failure-state.ts'

const answer = (statusCode: number): KubeApiError => new KubeApiError(`GET /api: ${statusCode}`, { statusCode })

test.each<[string, unknown, string, RegExp]>([
  ['an unusable kubeconfig', new KubeconfigError('kubeconfig /a.yaml: empty'), 'unreachable', /correct the kubeconfig/],
  ['a wrong token', answer(401), 'unauthorized', /renew the credentials/],
  ['missing rights', answer(403), 'unauthorized', /grant/],
  [
    'an API that is down',
    new KubeConnectionError('127.0.0.1:1: ECONNREFUSED', { server: '127.0.0.1:1', reason: 'ECONNREFUSED' }),
    'unreachable',
    /see whether the API runs/,
  ],
  ['an API in trouble', answer(500), 'unreachable', /it is tried again/],
])('says of %s what it is and what to do', (_what, error, state, remedy) => {
  expect(failureState(error)).toEqual({ state, message: (error as Error).message })
  expect(remedyFor(error)).toMatch(remedy)
})

test('has no remedy for what is our own', () => {
  expect(remedyFor(new CausewayError('the log is behind', { code: 'StateBehind' }))).toBeUndefined()
  expect(remedyFor(new TypeError('a bug'))).toBeUndefined()
})
