import { expect, test } from 'vitest'
import type { Write } from '#libs/events'
import { replaces } from './supersede.ts'
import { intentOf, writes } from './testing/intents.ts'

const cases: { newer: Write; older: Write; replaced: boolean; because: string }[] = [
  { newer: writes.create(), older: writes.create(), replaced: true, because: 'a newer create says all' },
  { newer: writes.bind(), older: writes.bind(), replaced: true, because: 'a newer binding says all' },
  {
    newer: writes.patch(),
    older: writes.patch(),
    replaced: true,
    because: 'a newer patch is made from the newer state',
  },
  { newer: writes.status(), older: writes.status(), replaced: true, because: 'only the last status counts' },
  { newer: writes.status(), older: writes.patch(), replaced: false, because: 'status and spec are apart' },
  { newer: writes.patch(), older: writes.status(), replaced: false, because: 'status and spec are apart' },
  { newer: writes.status(), older: writes.create(), replaced: false, because: 'a status needs its object' },
  { newer: writes.status(), older: writes.bind(), replaced: false, because: 'a status does not bind' },
  { newer: writes.patch(), older: writes.create(), replaced: false, because: 'a patch is no whole object' },
  { newer: writes.create(), older: writes.patch(), replaced: false, because: 'they are about different objects' },
  { newer: writes.remove('u1'), older: writes.patch('u1'), replaced: true, because: 'what goes needs no changes' },
  { newer: writes.remove('u2'), older: writes.patch('u1'), replaced: false, because: 'another object is meant' },
  { newer: writes.remove(), older: writes.status(), replaced: false, because: 'how a pod ended must be told' },
  { newer: writes.remove(), older: writes.bind(), replaced: false, because: 'graceful deletion differs when bound' },
  { newer: writes.remove(), older: writes.create(), replaced: false, because: 'the uid is of what exists already' },
  { newer: writes.remove('u1'), older: writes.remove('u1'), replaced: true, because: 'a newer grace period rules' },
  { newer: writes.remove('u2'), older: writes.remove('u1'), replaced: false, because: 'two objects are to go' },
  { newer: writes.create(), older: writes.remove(), replaced: false, because: 'the old one must go first' },
  {
    newer: writes.announce(3),
    older: writes.announce(2),
    replaced: true,
    because: 'the newer count includes the older',
  },
  {
    newer: writes.announce(),
    older: writes.announce(),
    replaced: false,
    because: 'one of the two would not be counted',
  },
]

test.each(cases)(
  '$newer.op after a waiting $older.op: replaced $replaced, since $because',
  ({ newer, older, replaced }) => {
    expect(replaces(intentOf(newer), intentOf(older))).toBe(replaced)
  },
)
