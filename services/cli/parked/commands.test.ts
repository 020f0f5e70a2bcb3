import { expect, test } from 'vitest'
import type { Terminal } from '../output/terminal.ts'
import { Command } from 'commander'
import { ConfigError } from '#libs/kernel'
import { addOrderCommands } from './commands.ts'
import { parkedLines } from './parked-lines.ts'
import { patrolLines } from './patrol-command.ts'

/** Runs one command where nothing is running. @returns its exit status and what it said */
async function run(...argv: string[]): Promise<{ status: number | undefined; said: string[] }> {
  const said: string[] = []
  const terminal: Terminal = {
    isTty: false,
    width: 80,
    height: 24,
    print: (line) => said.push(line),
    progress: (line) => said.push(line),
    redraw: () => undefined,
  }
  let status: number | undefined
  const program = new Command().exitOverride()
  const done = (value: number): void => {
    status = value
  }
  addOrderCommands(program, { terminal, signal: new AbortController().signal, done })
  await program.parseAsync([...argv, '--data', '/nowhere/at/all'], { from: 'user' })
  return { status, said }
}

test.each([
  [['parked', 'list']],
  [['parked', 'show', 'pod/web', '-t', 'a']],
  [['parked', 'retry', '-t', 'a']],
  [['parked', 'drop', 'pod/web', '-t', 'a', '--yes']],
  [['patrol', 'run']],
])('%j ends with 3 where nobody can answer, and says why', async (argv) => {
  const { status, said } = await run(...argv)
  expect(status).toBe(3)
  expect(said.join('\n')).toContain('nothing runs on /nowhere/at/all')
})

test.each([[['parked', 'list', '--reason', 'Bored']], [['parked', 'retry', '-t', 'a', '--reason', 'Bored']]])(
  '%j names no reason that there is',
  async (argv) => {
    await expect(run(...argv)).rejects.toThrow(ConfigError)
    await expect(run(...argv)).rejects.toThrow(/"Bored" is no reason/)
  },
)

test('the table names what waits, what is dropped and by whom, and how many more there are', () => {
  const pod = { tenant: 'a', resource: 'pods', namespace: 'default', reason: 'Invalid' }
  const objects = [
    { ...pod, name: 'web', since: 0 },
    { ...pod, name: 'api', dropped: { at: 60_000, by: 'ann' } },
  ]
  const lines = parkedLines({ objects, unnamed: 3 }).join('\n')
  expect(lines).toMatch(/a +pods\/default\/web +Invalid +1970-01-01T00:00:00.000Z\n/)
  expect(lines).toMatch(/a +pods\/default\/api +Invalid +dropped 1970-01-01T00:01:00.000Z by ann\n/)
  expect(lines).toContain('… and 3 more')
  expect(parkedLines({ objects: [], unnamed: 0 })).toEqual(['nothing waits'])
})

test('a patrol says what it has seen, and by rule what it has repaired', () => {
  const well = { lists: 4, missed: 0, gone: 0 }
  expect(patrolLines({ looked: 12, repaired: {}, ...well }, 'a')).toEqual([
    'patrol of tenant a: 4 lists compared, no watch has lost anything; 12 objects looked at, nothing to repair',
  ])
  const repaired = { create: 1, virtualGone: 2 }
  const [head, first, second] = patrolLines({ looked: 12, repaired, lists: 4, missed: 1, gone: 2 }, undefined)
  expect(head).toBe(
    'patrol of all tenants: 4 lists compared, 1 states and 2 ends that no watch told of, published now; ' +
      '12 objects looked at, 3 writes missing, asked for now',
  )
  expect(first).toMatch(/^ {2}2 +virtualGone +\S/)
  expect(second).toMatch(/^ {2}1 +create +wanted on the host and not there$/)
})
