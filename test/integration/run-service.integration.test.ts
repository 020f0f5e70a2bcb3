import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'

const fixture = fileURLToPath(new URL('services/run-service-fixture.ts', import.meta.url))

let child: ChildProcess

afterEach(() => {
  child.kill('SIGKILL')
})

/** Starts the fixture; resolves when it has said its first word, or has ended. */
async function run(mode: string): Promise<{ said: () => string[]; ended: Promise<number | null> }> {
  child = spawn(process.execPath, [fixture, mode], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const said = (): string[] => output.split('\n').filter((line) => line !== '')
  await expect.poll(said, { timeout: 10_000 }).not.toEqual([])
  return { said, ended }
}

test.each(['SIGTERM', 'SIGINT'] as const)('stops in order on %s, with status 0', async (signal) => {
  const { said, ended } = await run('runs')
  child.kill(signal)
  expect(await ended).toBe(0)
  await expect.poll(said).toEqual(['started', 'closed'])
})

test('stops when the process that started it is gone', async () => {
  const { said, ended } = await run('runs')
  child.disconnect()
  expect(await ended).toBe(0)
  await expect.poll(said).toEqual(['started', 'closed'])
})

test('a second signal ends it at once, with status 1', async () => {
  const { said, ended } = await run('never-closes')
  child.kill('SIGTERM')
  await expect.poll(said).toContain('closed')
  child.kill('SIGTERM')
  expect(await ended).toBe(1)
})

test('gives back what it holds and ends with status 1 when a role fails', async () => {
  const { said, ended } = await run('role-fails')
  expect(await ended).toBe(1)
  // The one comes on standard error, the others on standard output: their order is nobody's.
  await expect.poll(() => said().toSorted()).toEqual(['closed', 'fixture: role broke', 'started'])
})

test('ends with status 1 and says why when it cannot start', async () => {
  const { said, ended } = await run('fails-at-start')
  expect(await ended).toBe(1)
  await expect.poll(said).toEqual(['fixture: no start'])
})
