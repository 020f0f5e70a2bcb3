import { createInterface } from 'node:readline/promises'
import { ConfigError, systemClock } from '#libs/kernel'
import { type CommandOptions, withRunning } from '../tenant/running.ts'
import { askedBy, askedRef, askedTenant, giveTo } from './order.ts'

/**
 * Has what of an object is parked tried no more, until it changes or a retry is ordered. Exit status 1 when nothing of it
 * waits.
 * @throws ConfigError when tenant or object are not known or nobody confirms, CausewayError when no translator takes it in
 */
export async function dropParked(
  options: CommandOptions & { tenant: string | undefined; object: string; namespace: string; yes: boolean },
): Promise<number> {
  const { terminal, json, signal, namespace, object } = options
  return withRunning(options, async (running) => {
    const tenant = await askedTenant(running, options.tenant)
    const { ref } = askedRef(object, { namespace, tenant })
    if (!options.yes) await confirm(`${object} of tenant ${tenant.name}`, terminal.isTty)
    const { dropped, judged } = await giveTo<'drop'>(running, tenant.name, {
      order: { kind: 'drop', tenant: tenant.name, object: ref, ...askedBy(), at: systemClock.now() },
      signal,
    })
    if (json) terminal.print(JSON.stringify({ tenant: tenant.name, object: ref, dropped, judged }))
    else terminal.print(answer(object, { dropped, judged }))
    return dropped > 0 ? 0 : 1
  })
}

function answer(object: string, { dropped, judged }: { dropped: number; judged: number }): string {
  if (dropped > 0) return `${object} is tried no more until it changes; "causeway parked retry" undoes that`
  if (judged === 0) return `nothing of ${object} waits`
  return `nothing of ${object} is decided yet: ask again in a moment`
}

async function confirm(what: string, isTty: boolean): Promise<void> {
  if (!isTty) throw new ConfigError([`${what} would be tried no more until it changes: confirm with --yes`])
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const said = await terminal.question(`${what} is tried no more then, until it changes. Go on? [y/N] `)
  terminal.close()
  if (!/^y(es)?$/i.test(said.trim())) throw new ConfigError(['not confirmed; nothing was changed'])
}
