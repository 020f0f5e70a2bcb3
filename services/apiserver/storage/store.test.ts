import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject, WatchEventType } from '#libs/kube-model'
import { ClusterStore } from './store.ts'

let directory: string
let store: ClusterStore

const open = (historyLimit?: number): ClusterStore =>
  new ClusterStore({ file: join(directory, 'a.db'), ...(historyLimit === undefined ? {} : { historyLimit }) })

const put = (type: WatchEventType, name: string, value: string, namespace = 'ns'): void => {
  const object: KubeObject = { metadata: { name, namespace }, kind: 'ConfigMap', apiVersion: 'v1', data: { value } }
  store.write({ type, resource: 'configmaps', namespace, name, object })
}

const values = (at?: number): string[] =>
  (at === undefined ? store.list('configmaps') : (store.listAt('configmaps', undefined, at) ?? [])).map(
    ({ name, object }) => `${name}=${(object['data'] as { value: string }).value}`,
  )

describe('ClusterStore', () => {
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'store-'))
    store = open()
  })
  afterEach(() => {
    store.close()
    rmSync(directory, { recursive: true, force: true })
  })

  it('gives every change the next revision and lists by namespace and name', () => {
    put('ADDED', 'b', '1', 'z')
    put('ADDED', 'c', '2', 'a')
    put('ADDED', 'a', '3', 'z')
    expect(store.revision).toBe(3)
    expect(values()).toEqual(['c=2', 'a=3', 'b=1'])
    expect(store.get('configmaps', 'z', 'a')?.object.metadata.resourceVersion).toBe('3')
  })

  it('keeps objects, log and revision across a restart', () => {
    put('ADDED', 'a', '1')
    put('MODIFIED', 'a', '2')
    put('ADDED', 'b', '1')
    put('DELETED', 'b', '1')
    store.close()
    store = open()
    expect(store.revision).toBe(4)
    expect(values()).toEqual(['a=2'])
    const events = [...(store.since(1) ?? [])]
    expect(events.map((event) => [event.type, event.current.name, event.previous?.revision])).toEqual([
      ['MODIFIED', 'a', 1],
      ['ADDED', 'b', undefined],
      ['DELETED', 'b', 3],
    ])
  })

  it('keeps changes up to a size, whatever their number, and says which are gone', () => {
    store.close()
    store = new ClusterStore({ file: join(directory, 'a.db'), historySize: 100_000 })
    for (let index = 0; index < 100; index++) put(index === 0 ? 'ADDED' : 'MODIFIED', 'a', 'x'.repeat(5_000))
    expect(store.since(70)).toBeUndefined()
    expect([...(store.since(90) ?? [])].map(({ revision }) => revision)).toEqual([
      91, 92, 93, 94, 95, 96, 97, 98, 99, 100,
    ])
    expect(store.revision - store.floor).toBeLessThanOrEqual(23)
    expect(store.get('configmaps', 'ns', 'a')?.revision).toBe(100)
  })

  it('lists the state of an earlier revision', () => {
    put('ADDED', 'a', '1')
    put('ADDED', 'b', '1')
    put('MODIFIED', 'a', '2')
    put('DELETED', 'b', '1')
    put('ADDED', 'c', '1')
    expect(values(2)).toEqual(['a=1', 'b=1'])
    expect(values(3)).toEqual(['a=2', 'b=1'])
    expect(values(5)).toEqual(['a=2', 'c=1'])
  })

  it('refuses revisions older than the compacted ones, also after a restart', () => {
    put('ADDED', 'a', '1')
    put('MODIFIED', 'a', '2')
    put('ADDED', 'b', '1')
    put('DELETED', 'b', '1')
    put('MODIFIED', 'a', '3')
    store.compact(1)
    for (let round = 0; round < 2; round++) {
      expect(store.since(3)).toBeUndefined()
      expect(store.listAt('configmaps', undefined, 3)).toBeUndefined()
      const events = [...(store.since(4) ?? [])]
      expect(events.map((event) => [event.current.revision, event.previous?.revision])).toEqual([[5, 2]])
      expect(values(4)).toEqual(['a=2'])
      expect(values()).toEqual(['a=3'])
      store.close()
      store = open()
    }
  })

  it('never reuses a revision, even when the newest change is compacted', () => {
    put('ADDED', 'a', '1')
    put('DELETED', 'a', '1')
    store.compact(0)
    store.close()
    store = open()
    expect(store.revision).toBe(2)
    expect(values()).toEqual([])
  })

  it('bounds the log by itself', () => {
    store.close()
    store = open(10)
    for (let round = 0; round < 1000; round++) put(round === 0 ? 'ADDED' : 'MODIFIED', 'a', String(round))
    expect(store.floor).toBeGreaterThan(400)
    expect([...(store.since(store.floor) ?? [])].length).toBeLessThan(520)
  })

  it('calls subscribers of the resource until they stop', () => {
    const seen: string[] = []
    const stop = store.subscribe('configmaps', (event) => seen.push(event.type))
    put('ADDED', 'a', '1')
    stop()
    put('MODIFIED', 'a', '2')
    expect(seen).toEqual(['ADDED'])
  })
})
