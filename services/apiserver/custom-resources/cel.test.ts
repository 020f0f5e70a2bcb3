import { describe, expect, it } from 'vitest'
import { CelError, evaluateCel } from './cel.ts'
import { CelSyntaxError, parseCel } from './cel-parser.ts'

const compute = (source: string, self: unknown = {}, oldSelf?: unknown): unknown =>
  evaluateCel(parseCel(source), { self, oldSelf })

describe('expressions of schema rules', () => {
  it.each([
    ['self.min <= self.max', { min: 1, max: 2 }, true],
    ['self.min <= self.max && self.max < 2', { min: 1, max: 2 }, false],
    ['has(self.a) ? self.a == "x" : true', {}, true],
    ['has(self.a) ? self.a == "x" : true', { a: 'y' }, false],
    ['!has(self.a) || has(self.b)', { a: 1 }, false],
    ['self in ["a", "b"]', 'b', true],
    ['"k" in self', { k: 1 }, true],
    ['self.all(x, x > 0)', [1, 2], true],
    ['self.exists(k, k.startsWith("a"))', { ab: 1, c: 2 }, true],
    [
      'self.filter(x, x.on).map(x, x.name) == ["p"]',
      [
        { on: true, name: 'p' },
        { on: false, name: 'q' },
      ],
      true,
    ],
    ['size(self) == 3 && self.size() == 3', 'añb', true],
    ['self.matches(r"^[a-z]+\\d$")', 'abc1', true],
    ['(self.a + 1) * 2 % 5 == -1 + 2', { a: 2 }, true],
    ['7 / 2 == 3', {}, true],
    ['self.__namespace__ == "n"', { namespace: 'n' }, true],
    ['self[0].x == 1', [{ x: 1 }], true],
  ])('computes %s', (source, self, expected) => {
    expect(compute(source, self)).toBe(expected)
  })

  it('compares with the former value', () => {
    expect(compute('self >= oldSelf', 3, 4)).toBe(false)
  })

  it('lets one side of || decide when the other cannot be computed', () => {
    expect(compute('self.missing == 1 || true')).toBe(true)
    expect(() => compute('self.missing == 1 || false')).toThrow(CelError)
  })

  it('refuses what it cannot read', () => {
    expect(() => parseCel('self ==')).toThrow(CelSyntaxError)
    expect(() => parseCel('self == 1 )')).toThrow(CelSyntaxError)
    expect(() => parseCel('"open')).toThrow(CelSyntaxError)
  })
})
