import { expect, test } from 'vitest'
import { hostName } from '#libs/translation'
import { hostNameOf } from './host-names.ts'

test.each([
  'web',
  'a-x-b',
  'x-x',
  'a-name-that-leaves-no-room-for-what-must-follow-it',
  'a-name-of-dashes-----------------------------------x',
])('the documented name of the copy of %s is the one that it gets', (name) => {
  for (const namespace of ['shop', 'x-x-shop']) {
    expect(hostNameOf('t01', { namespace, name })).toBe(hostName({ namespace, name }, 't01'))
  }
})
