import { expect, test } from 'vitest'
import { FAULT_CLASSES, type Plan, planSchedule } from './plan.ts'
import { WORK_KINDS } from './workload.ts'

const small = { tenants: 6, pods: 60, seconds: 8 }
const plan = (seed: number): Plan => planSchedule({ seed, ...small })

test('the same seed gives the same work and the same faults, another seed others', () => {
  expect(plan(3)).toEqual(plan(3))
  expect(plan(3).work).not.toEqual(plan(4).work)
  expect(plan(3).faults).not.toEqual(plan(4).faults)
})

test('every class of fault comes, each before any comes again', () => {
  const classes = plan(1).faults.map((fault) => fault.class)
  expect(new Set(classes.slice(0, FAULT_CLASSES.length))).toEqual(new Set(FAULT_CLASSES))
})

test('every kind is made, changed, deleted and made again', () => {
  const { work } = planSchedule({ seed: 1, tenants: 6, pods: 60, seconds: 120 })
  const done = new Set(work.map(({ do: what, ref }) => `${what} ${ref.kind}`))
  for (const kind of WORK_KINDS) expect(done).toContain(`create ${kind}`)
  for (const kind of ['pods', 'configmaps', 'secrets', 'services']) {
    expect(done).toContain(`patch ${kind}`)
    expect(done).toContain(`recreate ${kind}`)
  }
  expect(done).toContain('delete pods')
  expect(done).toContain('delete persistentvolumeclaims')
})

test('work is on objects that are there', () => {
  const there = new Set<string>()
  for (const work of planSchedule({ seed: 2, tenants: 3, pods: 30, seconds: 60 }).work) {
    const key = JSON.stringify([work.tenant, work.ref])
    expect(there.has(key)).toBe(work.do !== 'create')
    if (work.do === 'create') there.add(key)
    if (work.do === 'delete') there.delete(key)
  }
})

test('the size of the long run is the one asked for', () => {
  const { work, tenants } = planSchedule({ seed: 1, tenants: 20, pods: 1_000, seconds: 0 })
  expect(tenants).toHaveLength(20)
  const pods = work.filter(({ ref }) => ref.kind === 'pods' && ref.name !== 'blocked')
  expect(pods).toHaveLength(1_000)
})
