import { Command } from 'commander'
import { expect, test } from 'vitest'
import { ConfigError } from '#libs/kernel'
import type { Terminal } from '../output/terminal.ts'
import { addObjectCommands } from './commands.ts'
import { exitStatusOf } from './exit-status.ts'

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
  addObjectCommands(program, {
    terminal,
    signal: new AbortController().signal,
    done: (value) => {
      status = value
    },
  })
  await program.parseAsync([...argv, '--data', '/nowhere/at/all'], { from: 'user' })
  return { status, said }
}

test.each([[['why', 'pod/web', '-t', 'a']], [['trace', 'pod/web', '-t', 'a']], [['diff', '-t', 'a']]])(
  '%j ends with 3 where nobody can answer, and says why',
  async (argv) => {
    const { status, said } = await run(...argv)
    expect(status).toBe(3)
    expect(said.join('\n')).toContain('nothing runs on /nowhere/at/all')
  },
)

test.each([
  ['no tenant', ['trace', 'pod/web'], /-t/],
  ['no tenant to compare', ['diff'], /-t/],
  ['a format that there is not', ['trace', 'pod/web', '-t', 'a', '-o', 'xml'], /text, json, otlp/],
  ['spans of what is not over', ['trace', 'pod/web', '-t', 'a', '-o', 'otlp', '--follow'], /cannot follow/],
])('%s is a wrong question', async (_title, argv, words) => {
  await expect(run(...argv)).rejects.toThrow(words)
  await expect(run(...argv)).rejects.toBeInstanceOf(ConfigError)
})

test('the answer is the exit status', () => {
  expect([true, false, 'unknown' as const].map((isInSync) => exitStatusOf({ isInSync }))).toEqual([0, 1, 3])
})
