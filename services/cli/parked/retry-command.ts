import { systemClock } from '#libs/kernel'
import { type CommandOptions, withRunning } from '../tenant/running.ts'
import { askedBy, askedReason, askedRef, askedTenant, giveTo } from './order.ts'

/**
 * Has what waits tried now. Exit status 1 when nothing waits.
 * @throws ConfigError when tenant, object or reason are not known, CausewayError when no translator takes it in
 */
export async function retryParked(
  options: CommandOptions & {
    tenant: string | undefined
    object: string | undefined
    namespace: string
    reason: string | undefined
  },
): Promise<number> {
  const { terminal, json, signal, namespace, object } = options
  const reason = askedReason(options.reason)
  return withRunning(options, async (running) => {
    const tenant = await askedTenant(running, options.tenant)
    const asked = object === undefined ? undefined : askedRef(object, { namespace, tenant })
    const { tried } = await giveTo<'retry'>(running, tenant.name, {
      order: {
        kind: 'retry',
        tenant: tenant.name,
        ...(asked === undefined ? {} : { object: asked.ref }),
        ...reason,
        ...askedBy(),
        at: systemClock.now(),
      },
      signal,
    })
    const whose = object === undefined ? `of tenant ${tenant.name}` : `of ${object}`
    if (json) terminal.print(JSON.stringify({ tenant: tenant.name, tried }))
    else if (tried === 0)
      terminal.print(`nothing ${whose} waits${reason.reason === undefined ? '' : ` for ${reason.reason}`}`)
    else {
      const count = `${tried} ${tried === 1 ? 'object' : 'objects'}`
      terminal.print(
        `tenant ${tenant.name}: ${count} tried now; "causeway parked list -t ${tenant.name}" shows what still waits`,
      )
    }
    return tried > 0 ? 0 : 1
  })
}
