import type { Command } from 'commander'
import type { Terminal } from '../output/terminal.ts'
import { told } from '../output/told.ts'
import { DataFolder } from '../up/data-folder.ts'
import { dropParked } from './drop-command.ts'
import { listParked } from './list-command.ts'
import { runPatrol } from './patrol-command.ts'
import { retryParked } from './retry-command.ts'
import { showParked } from './show-command.ts'

type Context = { terminal: Terminal; signal: AbortSignal; done: (exitStatus: number) => void }
type Flags = { data: string; json: boolean; tenant?: string }

/** Adds what shows and orders about parked objects, and the patrol. */
export function addOrderCommands(program: Command, { terminal, signal, done }: Context): void {
  const common = (command: Command): Command =>
    command
      .option('-t, --tenant <name>', 'the tenant')
      .option('--data <folder>', 'folder of the running `causeway up`', '.causeway')
      .option('--json', 'machine-readable output', false)
  const named = (command: Command): Command => command.option('-n, --namespace <name>', 'its namespace', 'default')
  const of = <T extends Flags>({ data, ...flags }: T) => ({
    ...flags,
    tenant: flags.tenant,
    folder: new DataFolder(data),
    terminal,
    signal,
  })

  const parked = program.command('parked').description('Show what waits, have it tried now, or no more')
  common(parked.command('list'))
    .description('List the objects that wait, of a tenant or of all; exit status 1 when some do')
    .option('--reason <reason>', 'those alone that wait for this')
    .action(async (flags: Flags & { reason?: string }) => {
      done(await told(terminal, () => listParked({ ...of(flags), reason: flags.reason })))
    })
  named(common(parked.command('show <kind/name>')))
    .description('Say what an object waits for, since when, what the API said, and what to do')
    .action(async (object: string, flags: Flags & { namespace: string }) => {
      done(await told(terminal, () => showParked({ ...of(flags), object })))
    })
  named(common(parked.command('retry [kind/name]')))
    .description('Try now what waits: one object, or all of a tenant; also what was dropped')
    .option('--reason <reason>', 'what waits for this alone')
    .action(async (object: string | undefined, flags: Flags & { namespace: string; reason?: string }) => {
      done(await told(terminal, () => retryParked({ ...of(flags), object, reason: flags.reason })))
    })
  named(common(parked.command('drop <kind/name>')))
    .description('Try an object no more until it changes, or until `parked retry`; nothing is deleted')
    .option('--yes', 'do not ask', false)
    .action(async (object: string, flags: Flags & { namespace: string; yes: boolean }) => {
      done(await told(terminal, () => dropParked({ ...of(flags), object })))
    })

  const patrol = program.command('patrol').description('Look for drift')
  common(patrol.command('run'))
    .description('Decide about every object again, of a tenant or of all; exit status 1 when something was repaired')
    .action(async (flags: Flags) => {
      done(await told(terminal, () => runPatrol(of(flags))))
    })
}
