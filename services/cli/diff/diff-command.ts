import { REMEDIES, compareSides } from '#libs/explain'
import { ConfigError } from '#libs/kernel'
import { displayName } from '#libs/kube-model'
import { align } from '../output/table.ts'
import { type CommandOptions, withRunning } from '../tenant/running.ts'
import { askedKind } from '../why/asked-object.ts'
import { EXIT } from '../why/exit-status.ts'
import { withSources } from '../why/open-sources.ts'

/**
 * Compares both sides of a tenant as they are now. Exit status 0 when they agree, 1 when something differs, 3 when a
 * side could not be read.
 * @throws ConfigError
 */
export async function diff(
  options: CommandOptions & { tenant: string | undefined; kind: string | undefined },
): Promise<number> {
  const { terminal, folder, tenant, kind, json } = options
  if (tenant === undefined) throw new ConfigError(['whose objects? name the tenant with -t'])
  return withRunning(options, (running) =>
    withSources(running, folder, async (sources) => {
      const entry = await sources.registry.get(tenant)
      const info = kind === undefined ? undefined : askedKind(kind, entry)
      const compared = await compareSides(sources, { tenant, info })
      const { differences, unread, objects, resources } = compared
      if (json) terminal.print(JSON.stringify(compared))
      else {
        const rows = differences.map(({ ref, reason, summary }) => [ref.resource, displayName(ref), reason, summary])
        if (rows.length > 0) for (const line of align([['KIND', 'OBJECT', 'REASON', ''], ...rows])) terminal.print(line)
        for (const reason of new Set(differences.map((each) => each.reason))) {
          terminal.print(`${reason}: ${REMEDIES[reason] ?? ''}`)
        }
        for (const { side, resource, message } of unread) {
          terminal.print(`${resource} could not be listed on the ${side === 'host' ? 'host' : 'tenant'}: ${message}`)
        }
        const what =
          differences.length === 0
            ? 'both sides agree'
            : `${differences.length} ${differences.length === 1 ? 'differs' : 'differ'}`
        terminal.print(`${objects} objects of ${resources.length} kinds: ${what}`)
      }
      if (unread.length > 0) return EXIT.cannotTell
      return differences.length === 0 ? EXIT.inSync : EXIT.notInSync
    }),
  )
}
