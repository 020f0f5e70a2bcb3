import { expect, test } from 'vitest'
import { notReady } from './not-ready.ts'
import type { WatchState } from './status-board.ts'

const status = (tenant: string, resource: string, state: WatchState) => ({ tenant, resource, state, message: '' })

test('a custom resource without its definition keeps nobody from being ready', () => {
  expect(notReady([status('', 'widgets.example.com', 'absent'), status('a', 'widgets.example.com', 'absent')])).toEqual(
    [],
  )
})

test('a host that does not know pods, or is not listed yet, does', () => {
  expect(notReady([status('', 'pods', 'absent'), status('', 'widgets.example.com', 'listing')])).toEqual([
    'host pods: absent',
    'host widgets.example.com: listing',
  ])
})

test('a tenant that cannot be reached does not, one that is being listed does', () => {
  expect(notReady([status('a', 'pods', 'unreachable'), status('b', 'pods', 'listing')])).toEqual([
    'tenant b pods: listing',
  ])
})
