import { expect, it } from 'vitest'
import { requiredReferences } from './pod-references.ts'

it('finds what volumes and environments need and leaves out what is optional', () => {
  const references = requiredReferences({
    metadata: {},
    spec: {
      volumes: [
        { configMap: { name: 'a' } },
        { configMap: { name: 'maybe', optional: true } },
        { secret: { secretName: 'b' } },
        { projected: { sources: [{ configMap: { name: 'c' } }, { secret: { name: 'd' } }] } },
      ],
      initContainers: [{ name: 'init', envFrom: [{ configMapRef: { name: 'e' } }] }],
      containers: [{ name: 'main', env: [{ valueFrom: { secretKeyRef: { name: 'b' } } }] }],
    },
  })
  expect(references.map(({ resource, name }) => `${resource}/${name}`)).toEqual([
    'configmaps/a',
    'secrets/b',
    'configmaps/c',
    'secrets/d',
    'configmaps/e',
  ])
})
