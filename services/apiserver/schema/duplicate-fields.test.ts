import { expect, it } from 'vitest'

import { duplicateFields } from './duplicate-fields.ts'

it.each([
  ['{"data":{"a":"1","a":"2"}}', ['data.a']],
  ['{"a":1,"b":{"a":1},"a":2}', ['a']],
  ['{"l":[{"x":1},{"x":1,"x":2}]}', ['l[1].x']],
  [String.raw`{"a\"{":1,"b":"{\"a\":1,"}`, []],
  ['[1,2,"a","a"]', []],
])('finds in %s the duplicates %j', (text, expected) => {
  expect(duplicateFields(text)).toEqual(expected)
})
