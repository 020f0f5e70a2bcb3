import { expect, test } from 'vitest'
import { streamDeclarations } from '#libs/events'
import { differences, streamConfig } from './streams.ts'

test('a stream as declared differs in nothing, whatever else the server reports of it', () => {
  for (const declaration of streamDeclarations()) {
    const wanted = streamConfig(declaration)
    expect(differences({ ...wanted, max_consumers: -1, metadata: { '_nats.ver': '2.15.1' } }, wanted)).toEqual([])
  }
})

test('differences are named by field', () => {
  const [changes, , , state] = streamDeclarations().map(streamConfig)
  if (changes === undefined || state === undefined) throw new Error('a declaration is missing')
  const older = { ...changes, max_age: 1, allow_msg_ttl: false }
  expect(differences(older, changes).toSorted()).toEqual(['allow_msg_ttl', 'max_age'])
  expect(differences({ ...state, sources: [{ name: 'CHANGES' }] }, state)).toEqual(['sources'])
})

test('the last state keeps one message per subject and is sourced, the history is published to', () => {
  const configs = streamDeclarations({ replicas: 3 }).map(streamConfig)
  expect(
    configs.map(({ name, subjects, sources, max_msgs_per_subject: perSubject, num_replicas: replicas }) => ({
      name,
      subjects,
      sources,
      perSubject,
      replicas,
    })),
  ).toEqual([
    { name: 'CHANGES', subjects: ['change.>'], sources: undefined, perSubject: -1, replicas: 3 },
    { name: 'INTENTS', subjects: ['intent.>'], sources: undefined, perSubject: -1, replicas: 3 },
    { name: 'OUTCOMES', subjects: ['outcome.>'], sources: undefined, perSubject: -1, replicas: 3 },
    {
      name: 'STATE',
      subjects: undefined,
      sources: [{ name: 'CHANGES' }, { name: 'OUTCOMES' }],
      perSubject: 1,
      replicas: 3,
    },
  ])
})
