import { describe, expect, it } from 'vitest'

import { matchesLabelSelector, parseLabelSelector } from './label-selector.ts'

const LABELS = { app: 'x', tier: 'one', count: '5' }

describe('parseLabelSelector', () => {
  it.each([
    ['', true],
    ['app=x', true],
    ['app==x', true],
    ['app=y', false],
    ['app!=y', true],
    ['none!=y', true],
    ['app in (x,y)', true],
    ['app in (y)', false],
    ['app notin (y)', true],
    ['none notin (y)', true],
    ['tier', true],
    ['!tier', false],
    ['!none,app', true],
    ['app=x,app=y', false],
    ['count>4,count<6', true],
    ['app>4', false],
    ['tier=', false],
    ['in=x', false],
    ['app in (x, ),tier=one', true],
  ])('reads %j', (selector, expected) => {
    expect(parseLabelSelector(selector)(LABELS)).toBe(expected)
  })

  it.each([
    ['a in x', "unable to parse requirement: found 'x' expected: '('"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['=', "found '=', expected: !, identifier, or 'end of string'"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a=bad value', "found 'value', expected: ',' or 'end of string'"],
    ['kc=t,', "found '', expected: identifier after ','"],
    [
      'a>x',
      `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
  ])('refuses %j', (selector, message) => {
    expect(() => parseLabelSelector(selector)).toThrow(message)
  })
})

describe('matchesLabelSelector', () => {
  it.each([
    [undefined, false],
    [{}, true],
    [{ matchLabels: { app: 'x' } }, true],
    [{ matchLabels: { app: 'x', tier: 'two' } }, false],
    [{ matchExpressions: [{ key: 'app', operator: 'In', values: ['x'] }] }, true],
    [{ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['x'] }] }, false],
    [{ matchExpressions: [{ key: 'none', operator: 'DoesNotExist' }] }, true],
    [{ matchExpressions: [{ key: 'app', operator: 'Bogus' }] }, false],
  ])('matches %j: %s', (selector, expected) => {
    expect(matchesLabelSelector(selector, LABELS)).toBe(expected)
  })
})
