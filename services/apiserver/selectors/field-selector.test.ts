import { describe, expect, it } from 'vitest'

import { parseFieldSelector, requiredFieldValue } from './field-selector.ts'

const POD = {
  metadata: { name: 'p', namespace: 'ns' },
  spec: { nodeName: 'n', restartPolicy: 'Always' },
  status: { phase: 'Running' },
}

describe('parseFieldSelector', () => {
  it.each([
    ['', true],
    ['metadata.name=p', true],
    ['metadata.name==q', false],
    ['metadata.name!=q,metadata.namespace=ns', true],
    ['spec.nodeName=n', true],
    ['spec.nodeName=', false],
    ['status.phase!=Running', false],
    ['spec.hostNetwork=false', true],
    ['status.nominatedNodeName=', true],
  ])('selects a pod by %j: %s', (selector, expected) => {
    expect(parseFieldSelector(selector, 'pods')(POD)).toBe(expected)
  })

  it.each([
    ['configmaps', 'data.x=1', '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"'],
    ['pods', 'spec.foo=1', 'field label not supported: spec.foo'],
    ['pods', 'nonsense', "invalid selector: 'nonsense'; can't understand 'nonsense'"],
  ])('refuses for %s %j', (resource, selector, message) => {
    expect(() => parseFieldSelector(selector, resource)).toThrow(message)
  })

  it('reads escaped commas', () => {
    expect(parseFieldSelector(String.raw`metadata.name=a\,b`, 'secrets')({ metadata: { name: 'a,b' } })).toBe(true)
  })
})

describe('requiredFieldValue', () => {
  it.each([
    ['metadata.name=p,status.phase=x', 'p'],
    ['metadata.name!=p', undefined],
    ['status.phase=x', undefined],
  ])('finds the name in %j', (selector, expected) => {
    expect(requiredFieldValue(selector, 'metadata.name')).toBe(expected)
  })
})
