import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { LOG_LEVELS } from '#libs/config'
import { ConfigError } from '#libs/kernel'
import { tenantConfigJsonSchema } from '#libs/sync-config'
import { checkConfigFile } from './config/check-command.ts'
import { readYaml } from './config/read-config.ts'
import { createTerminal } from './output/terminal.ts'
import { told } from './output/told.ts'
import { addOrderCommands } from './parked/commands.ts'
import { register } from './register.ts'
import { type ReplayFlags, replay } from './replay/replay-command.ts'
import { status } from './status/status-command.ts'
import { confirmDeletions } from './tenant/confirm.ts'
import { configureTenant } from './tenant/configure.ts'
import { connectTenant } from './tenant/connect.ts'
import { createTenant } from './tenant/create.ts'
import { deleteTenant } from './tenant/delete.ts'
import { listTenants } from './tenant/list.ts'
import { DataFolder } from './up/data-folder.ts'
import { planUp } from './up/plan.ts'
import { readToken } from './up/operator-token.ts'
import { type UpOptions, up } from './up/up-command.ts'
import { addObjectCommands } from './why/commands.ts'

/** The command line. `run` resolves to the exit status: 0 done, 1 failed, 2 wrong input; 3 where a question cannot be answered. */
export function createProgram(signal: AbortSignal): { run(argv: readonly string[]): Promise<number> } {
  const terminal = createTerminal()
  let exitStatus = 0
  const program = new Command('causeway')
    .description('Runs the workloads of many tenant Kubernetes clusters on one host cluster.')
    .exitOverride()
    .showHelpAfterError('(--help shows what there is)')

  program
    .command('up')
    .description('Start everything on this machine and keep it running')
    .option('--data <folder>', 'folder that everything is kept in', '.causeway')
    .option('--host-kubeconfig <file>', 'kubeconfig of the host (default: an embedded cluster)')
    .option(
      '--tenant <name[=kubeconfig[,namespace=hostns]]>',
      'a tenant; embedded without a kubeconfig (repeatable)',
      collect,
      [],
    )
    .option('--config <file>', 'YAML file with host and tenants instead of flags')
    .option('--separate', 'run watcher, translator and writer as processes of their own', false)
    .option('--nodes <count>', 'simulated nodes of an embedded host', whole, 3)
    .option('--partitions <count>', 'partitions of the log, fixed at the first start', between(1, 1024), 8)
    .option('--nats-port <port>', 'port of NATS (default: the last one, or a free one)', port)
    .option('--apiserver-port <port>', 'port of the embedded API server (default: the last one, or a free one)', port)
    .option('--console-port <port>', 'port of the console (default: the last one, or a free one)', port)
    .option('--console-token-file <file>', 'file with a token: whoever shows it may act in the console')
    .option('--no-console', 'do not serve the console')
    .addOption(new Option('--log-level <level>', 'least level that is logged').choices([...LOG_LEVELS]).default('info'))
    .option('--no-sample', 'do not create sample objects in embedded tenants')
    .option('--once', 'check that the sample runs, then stop: exit status 0 or 1', false)
    .option('--json', 'one line of JSON when ready, and nothing else', false)
    .action(async (options: UpFlags) => {
      const config =
        options.config === undefined ? undefined : { path: options.config, content: readYaml(options.config) }
      const plan = planUp({
        hostKubeconfig: options.hostKubeconfig,
        tenants: options.tenant,
        config,
        readFile: readYaml,
      })
      for (const notice of plan.notices ?? []) terminal.progress(notice)
      exitStatus = await up({
        ...options,
        plan,
        explicit: config !== undefined || options.tenant.length > 0,
        folder: new DataFolder(options.data),
        simulatedNodes: options.nodes,
        console: consoleOf(options),
        terminal,
        signal,
      })
    })

  program
    .command('register')
    .description('Tell an installation that runs elsewhere (containers, Kubernetes) where its host and tenants are')
    .option('--nats-url <url>', 'NATS of the installation', process.env['CAUSEWAY_NATS_URL'] ?? 'nats://127.0.0.1:4222')
    .requiredOption('--host-kubeconfig <file>', 'kubeconfig of the host, as the services see it')
    .option('--tenant <name=kubeconfig[,namespace=hostns]>', 'a tenant (repeatable)', collect, [])
    .option('--replicas <count>', 'copies of each log message', whole, 1)
    .action(async (options: { natsUrl: string; hostKubeconfig: string; tenant: string[]; replicas: number }) => {
      exitStatus = await register({ ...options, terminal, signal })
    })

  const tenant = program.command('tenant').description('Create, list, connect to and delete tenants')
  const shared = (command: Command): Command =>
    command
      .option('--data <folder>', 'folder of the running `causeway up`', '.causeway')
      .option('--json', 'machine-readable output', false)
  shared(tenant.command('create <name>'))
    .description('Add a tenant to the running installation; embedded without --kubeconfig')
    .option('--kubeconfig <file>', 'kubeconfig of an existing cluster')
    .option('--namespace <name>', 'host namespace (default: causeway-<name>)')
    .option('--config <file>', 'its configuration, or a vcluster.yaml')
    .action(
      async (name: string, options: TenantFlags & { kubeconfig?: string; namespace?: string; config?: string }) => {
        exitStatus = await createTenant({ ...options, name, folder: new DataFolder(options.data), terminal, signal })
      },
    )
  shared(tenant.command('configure <name>'))
    .description('Give a tenant another configuration; it takes effect without a restart')
    .requiredOption('--config <file>', 'its configuration, or a vcluster.yaml')
    .action(async (name: string, options: TenantFlags & { config: string }) => {
      exitStatus = await configureTenant({ ...options, name, folder: new DataFolder(options.data), terminal, signal })
    })
  shared(tenant.command('list'))
    .description('Show the tenants')
    .action(async (options: TenantFlags) => {
      exitStatus = await listTenants({ ...options, folder: new DataFolder(options.data), terminal, signal })
    })
  shared(tenant.command('connect <name>'))
    .description('Write the tenant as a context into a kubeconfig and make it the current one')
    .option('--kubeconfig <file>', 'kubeconfig to write to (default: $KUBECONFIG or ~/.kube/config)')
    .option('--print', 'print the tenant’s kubeconfig instead', false)
    .action(async (name: string, options: TenantFlags & { kubeconfig?: string; print: boolean }) => {
      exitStatus = await connectTenant({ ...options, name, folder: new DataFolder(options.data), terminal, signal })
    })
  shared(tenant.command('delete <name>'))
    .description('Remove a tenant and its objects on the host; an embedded cluster is deleted with all it holds')
    .option('--yes', 'do not ask', false)
    .action(async (name: string, options: TenantFlags & { yes: boolean }) => {
      exitStatus = await deleteTenant({ ...options, name, folder: new DataFolder(options.data), terminal, signal })
    })

  shared(tenant.command('confirm <name>'))
    .description('Let deletions go on that were stopped since very many of its objects vanished at once')
    .action(async (name: string, options: TenantFlags) => {
      exitStatus = await confirmDeletions({ ...options, name, folder: new DataFolder(options.data), terminal, signal })
    })

  const config = program.command('config').description('Check configuration, and say what it may hold')
  config
    .command('check <file>')
    .description(
      'Say all that is wrong with a causeway.yaml, a tenant’s configuration or a vcluster.yaml; exit status 1',
    )
    .option('--json', 'machine-readable output', false)
    .action((file: string, options: { json: boolean }) => {
      exitStatus = checkConfigFile({ file, ...options, terminal })
    })
  config
    .command('schema')
    .description('Print the JSON Schema of a tenant’s configuration')
    .action(() => terminal.print(JSON.stringify(tenantConfigJsonSchema(), null, 2)))

  shared(program.command('status'))
    .description('Show processes, partitions and tenants of the running installation, or what of one tenant waits')
    .option('-t, --tenant <name>', 'show the objects of this tenant that wait, and what for')
    .option('-w, --watch', 'go on until Ctrl-C', false)
    .action(async (options: TenantFlags & { tenant?: string; watch: boolean }) => {
      const folder = new DataFolder(options.data)
      exitStatus = await told(terminal, () => status({ ...options, folder, terminal, signal }))
    })

  shared(program.command('replay'))
    .description('Write the log into a SQLite file with a row for each message and views for common questions')
    .requiredOption('-o, --out <file>', 'file to make')
    .option('--as-of <time>', 'leave out what came later: 30s, 10m, 2h, 1d ago, or a time')
    .option('-t, --tenant <name>', 'one tenant alone')
    .option('--kind <kind>', 'one kind alone')
    .option(
      '--translate',
      'run today’s translator over the recorded changes, and show what it would decide otherwise',
      false,
    )
    .option('--reemit', 'send again what nothing came of, after a confirmation', false)
    .option('--yes', 'do not ask', false)
    .action(async (options: TenantFlags & ReplayFlags) => {
      exitStatus = await replay({ ...options, folder: new DataFolder(options.data), terminal, signal })
    })

  const done = (status: number): void => {
    exitStatus = status
  }
  addObjectCommands(program, { terminal, signal, done })
  addOrderCommands(program, { terminal, signal, done })

  return {
    run: async (argv) => {
      try {
        await program.parseAsync(argv, { from: 'user' })
        return exitStatus
      } catch (error) {
        if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
        if (!(error instanceof ConfigError)) throw error
        for (const problem of error.problems) terminal.progress(`causeway: ${problem}`)
        return 2
      }
    },
  }
}

type UpFlags = {
  data: string
  hostKubeconfig?: string
  tenant: string[]
  config?: string
  separate: boolean
  nodes: number
  partitions: number
  natsPort?: number
  apiserverPort?: number
  console: boolean
  consolePort?: number
  consoleTokenFile?: string
  logLevel: string
  sample: boolean
  once: boolean
  json: boolean
}

type TenantFlags = { data: string; json: boolean }

/** The console as it is asked for. @throws ConfigError when the token cannot be read */
function consoleOf({ console, consolePort, consoleTokenFile: file }: UpFlags): UpOptions['console'] {
  if (!console) return undefined
  return { port: consolePort, ...(file === undefined ? {} : { operatorToken: readToken(file) }) }
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

function whole(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('must be a whole number')
  return Number(text)
}

function between(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = whole(text)
    if (value < least || value > most) throw new InvalidArgumentError(`must be from ${least} to ${most}`)
    return value
  }
}

function port(text: string): number {
  return between(0, 65_535)(text)
}
