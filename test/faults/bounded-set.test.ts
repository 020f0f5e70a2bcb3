import { expect, test } from 'vitest'
import { BOUNDED_SET } from './bounded-set.ts'
import { FAULT_CLASSES, planSchedule } from './plan.ts'

test('the schedules that always run have every class of fault among them', () => {
  const faults = BOUNDED_SET.flatMap((options) => planSchedule(options).faults)
  expect(new Set(faults.map((fault) => fault.class))).toEqual(new Set(FAULT_CLASSES))
})
