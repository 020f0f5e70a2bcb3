import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '#libs/kube-model'
import { LIMITS, compileExpression } from './index.ts'

function compute(source: string, value: Json = 'abc', context: JsonObject = {}): unknown {
  const expression = compileExpression(source)
  if ('problem' in expression) throw new Error(expression.problem)
  const computed = expression.compute(value, context)
  return computed.ok ? computed.value : new Error(computed.problem)
}

function problem(source: string, value: Json = 'abc'): string {
  const expression = compileExpression(source)
  if ('problem' in expression) return expression.problem
  const computed = expression.compute(value, {})
  return computed.ok ? `computed ${JSON.stringify(computed.value)}` : computed.problem
}

describe('expressions compute', () => {
  test.each<[string, Json, unknown]>([
    ['value + ".tenants.example.com"', 'web', 'web.tenants.example.com'],
    ['value.trimSuffix(".tenants.example.com")', 'web.tenants.example.com', 'web'],
    ['value.trimSuffix("x") + value.trimSuffix("") + value.trimPrefix("w")', 'web', 'webwebeb'],
    ['value.substring(0, size(value) - 1)', 'web', 'we'],
    ['value.replace(".", "-").upperAscii()', 'a.b.c', 'A-B-C'],
    ['value.replace("", "-")', 'abc', 'a-b-c'],
    ['value == "a" ? null : value', 'a', null],
    ['value + 1', 3, 4],
    ['value * 2.0', 1.5, 3],
    ['value.filter(x, x != "b").map(x, x + "!")', ['a', 'b'], ['a!']],
    ['{"name": value, "port": 80}', 'web', { name: 'web', port: 80 }],
    ['value.split(",").join("/")', 'a,b', 'a/b'],
    ['has(value.b) ? "yes" : "no"', { a: 1 }, 'no'],
    ['value["a.b/c"]', { 'a.b/c': 'x' }, 'x'],
    [
      'value',
      { __proto__: null, constructor: 'x', n: [1, 2.5, true, null] },
      { constructor: 'x', n: [1, 2.5, true, null] },
    ],
  ])('%s of %j', (source, value, expected) => {
    expect(compute(source, value)).toEqual(expected)
  })

  test('with what is known of the object', () => {
    const context = { name: 'web', object: { metadata: { labels: { 'a/b': 'x' } } } }
    expect(compute('context.name + "-" + context.object.metadata.labels["a/b"]', '', context)).toBe('web-x')
  })

  test('the same each time, and change nothing that goes in', () => {
    const value = Object.freeze({ a: Object.freeze(['x']) }) as unknown as Json
    expect(compute('value.a + ["y"]', value)).toEqual(['x', 'y'])
    expect(compute('value.a + ["y"]', value)).toEqual(['x', 'y'])
  })

  test('and see no property of an object but its keys', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'length']) {
      expect(compute(`value[${JSON.stringify(name)}]`, {})).toEqual(new Error(`No such key: ${name}`))
      expect(compute(`has(value.${name})`, {})).toBe(false)
    }
  })
})

describe('what is written in JavaScript is refused with what to write instead', () => {
  test.each([
    ['value.slice(0, 3)', 'use substring(from, to)'],
    ['value.toUpperCase()', 'use lowerAscii() or upperAscii()'],
    ['`${value}.x`', 'texts are joined by +'],
    ['value === "a"', 'compared by == and !='],
    ['value.map(x => x)', 'functions are not written'],
    ['value.replace(/a/g, "b")', 'there are no regular expressions'],
    ['value ?? "x"', 'has(context.object.spec)'],
    ['return value', 'an expression is one value'],
    ['process.exit()', 'Unknown variable: process'],
  ])('%s', (source, hint) => {
    expect(problem(source)).toContain(hint)
  })

  test('but not for words in a text', () => {
    expect(compute('value + " => return"')).toBe('abc => return')
  })
})

describe('no expression takes more than it may', () => {
  const numbers = '[1,2,3,4,5,6,7,8,9,10]'
  const many = Array.from({ length: 1_000 }, () => 'a')
  test.each<[string, string, Json, string]>([
    ['too long', 'x'.repeat(LIMITS.source + 1), '', 'longer than'],
    ['deep brackets', `${'('.repeat(500)}value${')'.repeat(500)}`, '', 'maxDepth'],
    ['deep lists', `${'['.repeat(100)}${']'.repeat(100)}`, '', 'maxDepth'],
    ['many signs', `${'-'.repeat(1_000)}1`, '', 'maxAstNodes'],
    ['many parts', `value${'+value'.repeat(300)}`, '', 'maxAstNodes'],
    ['doubling again and again', `[value]${'.map(x, x + x)'.repeat(25)}`, 'a', 'makes a text of more than'],
    ['doubling lists', `[[value]]${'.map(x, x + x)'.repeat(25)}[0]`, 'a', 'makes a list of more than'],
    [
      'doubling by names',
      'cel.bind(a, value + value, cel.bind(b, a + a, cel.bind(c, b + b, c + c + c + c)))',
      'a'.repeat(3_000),
      'makes a text',
    ],
    [
      'loops in loops',
      `${numbers}.map(a, ${numbers}.map(b, ${numbers}.map(c, ${numbers}.map(d, ${numbers}))))`,
      '',
      'steps',
    ],
    ['loops over what goes in', 'value.all(x, value.all(y, value.all(z, true)))', many, 'steps'],
    ['loops that swallow errors', 'value.exists(x, value.exists(y, value.exists(z, x + y + z == "q")))', many, 'steps'],
    ['a side that has failed', 'value.all(x, value.all(y, true)) || true', many, 'steps'],
    ['joining by a long text', 'value.map(x, "").join("aaaaaaaaaa".replace("a", "aaaaaaaaaa"))', many, 'makes a text'],
    ['joining long texts', '[1,2,3,4].map(x, value).join("")', 'a'.repeat(20_000), 'makes a text'],
    ['replacing by a long text', 'value.replace("a", value)', 'a'.repeat(30_000), 'makes a text'],
    ['a large value', 'value', 'a'.repeat(LIMITS.text + 1), 'longer than'],
    ['a long list', 'value', Array.from({ length: LIMITS.items + 1 }, () => 1), 'items'],
    ['a large result', 'value.map(x, value)', many.slice(0, 300), 'too large'],
    ['a deep value', 'value', nested(100), 'nested too deep'],
    ['regular expressions', 'value.matches("(a+)+$")', 'a', 'cannot call matches()'],
    [
      'durations, whose reading is slow',
      'duration(value) == duration("1s")',
      '1'.repeat(30_000),
      'cannot call duration()',
    ],
    ['times', 'timestamp(value)', '', 'cannot call timestamp()'],
    ['numbers that JSON does not have', 'double(value) / 0.0', '1', 'no finite number'],
    ['whole numbers that JSON does not have', '9007199254740993', '', 'beyond 2^53'],
    ['values that JSON does not have', 'b"x"', '', 'type that JSON does not have'],
  ])('%s', (_title, source, value, expected) => {
    const started = performance.now()
    expect(problem(source, value)).toContain(expected)
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  test('and the next one has its own bounds', () => {
    expect(problem('value.all(x, value.all(y, true))', many)).toContain('steps')
    expect(compute('value.all(x, x == "a")', many)).toBe(true)
  })
})

function nested(depth: number): Json {
  let value: Json = 'x'
  for (let level = 0; level < depth; level++) value = [value]
  return value
}
