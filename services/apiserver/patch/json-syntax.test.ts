import { describe, expect, it } from 'vitest'

import { goSyntaxProblem } from './json-syntax.ts'

describe('goSyntaxProblem', () => {
  it.each([
    ['{', 'unexpected end of JSON input'],
    ['', 'unexpected end of JSON input'],
    ['{bad', "invalid character 'b' looking for beginning of object key string"],
    ['not json', "invalid character 'o' in literal null (expecting 'u')"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
    ['[1 2]', "invalid character '2' after array element"],
    ['{} x', "invalid character 'x' after top-level value"],
    ['<html>', "invalid character '<' looking for beginning of value"],
  ])('names what is wrong with %j', (text, problem) => {
    expect(goSyntaxProblem(text)).toBe(problem)
  })

  it('finds nothing wrong with JSON', () => {
    expect(goSyntaxProblem('{"a":[1,2.5e3,"x\\n",null,true]}')).toBeUndefined()
  })
})
