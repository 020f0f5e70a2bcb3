import { explain } from '#libs/explain'
import { openWaitingReports, waitingKey } from '#libs/runtime'
import { type CommandOptions, withRunning } from '../tenant/running.ts'
import { EXIT, exitStatusOf } from '../why/exit-status.ts'
import { withSources } from '../why/open-sources.ts'
import { askedRef, askedTenant } from './order.ts'
import { parkedFact, parkedFactLines } from './parked-fact.ts'

/**
 * Says of one object what it waits for. Exit status 1 when it waits, 0 when it is in sync, else as of `why`.
 * @throws ConfigError when tenant or object are not known
 */
export async function showParked(
  options: CommandOptions & { tenant: string | undefined; object: string; namespace: string },
): Promise<number> {
  const { terminal, json, folder, namespace, object } = options
  return withRunning(options, async (running) => {
    const tenant = await askedTenant(running, options.tenant)
    const { info, ref } = askedRef(object, { namespace, tenant })
    const { bus, info: installation } = running
    const reports = await openWaitingReports(bus, installation.replicas)
    const [answer, report] = await Promise.all([
      withSources(running, folder, (sources) =>
        explain(sources, { tenant: tenant.name, info, namespace, name: ref.name }),
      ),
      reports.get(waitingKey(tenant.name)),
    ])
    const told = report?.value.objects.find(
      (each) => each.resource === ref.resource && each.namespace === ref.namespace && each.name === ref.name,
    )
    const fact = parkedFact(answer, told)
    if (json) terminal.print(JSON.stringify({ tenant: tenant.name, object: ref, ...fact }))
    else for (const line of parkedFactLines(answer, fact)) terminal.print(line)
    return fact.isParked ? EXIT.notInSync : exitStatusOf(answer.verdict)
  })
}
