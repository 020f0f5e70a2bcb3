import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { ChildAbort } from './child-abort.ts'

test('it aborts with its parent, for the same reason, also when that was before', () => {
  const parent = new AbortController()
  const child = new ChildAbort(parent.signal)
  expect(child.signal.aborted).toBe(false)
  parent.abort('enough')
  expect(child.signal.reason).toBe('enough')
  expect(new ChildAbort(parent.signal).signal.reason).toBe('enough')
})

test('it aborts alone, and leaves nothing at its parent', () => {
  const parent = new AbortController()
  const child = new ChildAbort(parent.signal)
  child.abort('mine')
  expect(child.signal.reason).toBe('mine')
  expect(parent.signal.aborted).toBe(false)
  new ChildAbort(parent.signal).close()
  expect(getEventListeners(parent.signal, 'abort')).toEqual([])
})
