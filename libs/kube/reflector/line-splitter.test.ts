import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLineSplitter } from './line-splitter.ts'

const text = (lines: Iterable<Buffer>): string[] => [...lines].map((line) => line.toString())

describe('createLineSplitter', () => {
  test('cuts many lines out of one chunk and keeps the rest', () => {
    const splitter = createLineSplitter(100)
    expect(text(splitter.push(Buffer.from('one\ntwo\nthr')))).toEqual(['one', 'two'])
    expect(splitter.pendingBytes()).toBe(3)
    expect(text(splitter.push(Buffer.from('ee\n')))).toEqual(['three'])
    expect(splitter.pendingBytes()).toBe(0)
  })

  test('drops empty lines', () => {
    expect(text(createLineSplitter(100).push(Buffer.from('\n\na\n')))).toEqual(['a'])
  })

  test('hands out copies', () => {
    const chunk = Buffer.from('one\n')
    const [line] = [...createLineSplitter(100).push(chunk)]
    chunk.fill('x')
    expect(line?.toString()).toBe('one')
  })

  test('refuses a line above the limit before it is complete', () => {
    const splitter = createLineSplitter(5)
    text(splitter.push(Buffer.from('ab\nabc')))
    expect(() => text(splitter.push(Buffer.from('def')))).toThrow(/longer than the limit of 5 bytes/)
  })

  test('finds the same lines however the bytes are cut', () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).map((value) => value.replaceAll('\n', ' '))
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (lines, sizes) => {
        const bytes = Buffer.from(lines.map((value) => `${value}\n`).join(''))
        const splitter = createLineSplitter(10_000)
        const found: Buffer[] = []
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1
          found.push(...splitter.push(bytes.subarray(at, at + size)))
          at += size
        }
        expect(text(found)).toEqual(lines)
      }),
    )
  })
})
