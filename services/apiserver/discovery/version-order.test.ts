import { expect, it } from 'vitest'
import { compareVersions } from './version-order.ts'

it('prefers stable to beta to alpha, newer to older, and both to other names', () => {
  const versions = ['foo', 'v1alpha2', 'v1', 'v2beta1', 'v10', 'v2', 'v1beta1', 'v1alpha10', 'bar']
  expect(versions.sort(compareVersions)).toEqual([
    'v10',
    'v2',
    'v1',
    'v2beta1',
    'v1beta1',
    'v1alpha10',
    'v1alpha2',
    'bar',
    'foo',
  ])
})
