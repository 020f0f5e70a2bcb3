import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createStuckStoreCheck } from './stuck-store.ts'

const GIVEN_UP = '[ERR] Filestore [CHANGES] Critical write error: write 1.blk: no space left on device\n'

let folder: string
let logFile: string
let isStuck: () => boolean

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'causeway-stuck-'))
  logFile = join(folder, 'nats-server.log')
  writeFileSync(logFile, GIVEN_UP)
  isStuck = createStuckStoreCheck({ logFile, storeDir: folder })
})
afterEach(() => rmSync(folder, { recursive: true }))

test.each([GIVEN_UP, '[ERR] JetStream out of space, will be DISABLED\n'])('after %s there is room, twice', (line) => {
  expect(isStuck()).toBe(false)
  appendFileSync(logFile, line)
  expect(isStuck()).toBe(false)
  expect(isStuck()).toBe(true)
})

test('what an earlier server said, and what is no end of writing, mean nothing', () => {
  appendFileSync(logFile, '[ERR] another error: no space left on device\n')
  for (let look = 0; look < 3; look++) expect(isStuck()).toBe(false)
})

test('a log that begins anew is read from its beginning', () => {
  appendFileSync(logFile, 'line\n'.repeat(100))
  isStuck()
  writeFileSync(logFile, GIVEN_UP)
  isStuck()
  expect(isStuck()).toBe(true)
})

test('where there is no folder, no room is known', () => {
  const check = createStuckStoreCheck({ logFile, storeDir: join(folder, 'nowhere') })
  for (let round = 0; round < 3; round++) {
    appendFileSync(logFile, GIVEN_UP)
    expect(check()).toBe(false)
  }
})
