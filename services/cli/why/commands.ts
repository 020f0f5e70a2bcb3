import type { Command } from 'commander'
import type { Terminal } from '../output/terminal.ts'
import { told } from '../output/told.ts'
import { DataFolder } from '../up/data-folder.ts'
import { diff } from '../diff/diff-command.ts'
import { trace } from '../trace/trace-command.ts'
import { why } from './why-command.ts'

type Context = { terminal: Terminal; signal: AbortSignal; done: (exitStatus: number) => void }
type TraceFlags = { follow: boolean; since?: string; output: string }
type Flags = { data: string; json: boolean; namespace: string; tenant?: string }

/** Adds the commands that ask about objects: why, trace, diff. */
export function addObjectCommands(program: Command, { terminal, signal, done }: Context): void {
  const common = (command: Command): Command =>
    command
      .option('-t, --tenant <name>', 'the tenant')
      .option('--data <folder>', 'folder of the running `causeway up`', '.causeway')
  const of = ({ data, ...flags }: Flags) => ({ ...flags, folder: new DataFolder(data), terminal, signal })

  common(program.command('why <kind/name>'))
    .description('Say why an object is, or is not, where it should be, and what to do; exit status 0, 1 or 3')
    .option('-n, --namespace <name>', 'its namespace', 'default')
    .option('--host', 'the object is one of the host’s: whose is it?', false)
    .option('--json', 'machine-readable output', false)
    .action(async (object: string, flags: Flags & { host: boolean }) => {
      done(await told(terminal, () => why({ ...of(flags), object, tenant: flags.tenant, host: flags.host })))
    })

  common(program.command('trace <kind/name>'))
    .description('Show the object’s story over both sides: changes, intents, outcomes')
    .option('-n, --namespace <name>', 'its namespace', 'default')
    .option('-f, --follow', 'go on until Ctrl-C', false)
    .option('--since <time>', 'leave out what is older: 30s, 10m, 2h, 1d, or a time')
    .option('-o, --output <format>', 'text, json (an entry a line) or otlp (spans)', 'text')
    .action(async (object: string, flags: Flags & TraceFlags) => {
      const { follow, since, output, tenant } = flags
      done(await told(terminal, () => trace({ ...of(flags), object, tenant, follow, since, output })))
    })

  common(program.command('diff [kind]'))
    .description('Compare both sides of a tenant as they are now; each difference is explained')
    .option('--json', 'machine-readable output', false)
    .action(async (kind: string | undefined, flags: Flags) => {
      done(await told(terminal, () => diff({ ...of(flags), kind, tenant: flags.tenant })))
    })
}
