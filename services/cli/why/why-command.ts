import { explain, explainHost } from '#libs/explain'
import { ConfigError } from '#libs/kernel'
import { type CommandOptions, withRunning } from '../tenant/running.ts'
import { type ObjectFlags, askedObject } from './asked-object.ts'
import { exitStatusOf } from './exit-status.ts'
import { withSources } from './open-sources.ts'
import { hostLines, whyLines } from './why-lines.ts'

/**
 * Says why an object is, or is not, where it should be. Exit status 0 when both sides agree, 1 when they do not, 3 when
 * nobody can tell.
 * @throws ConfigError when no object is named that can be asked about
 */
export async function why(
  options: CommandOptions & ObjectFlags & { tenant: string | undefined; host: boolean },
): Promise<number> {
  const { terminal, json, folder, tenant, namespace } = options
  return withRunning(options, (running) =>
    withSources(running, folder, async (sources) => {
      if (options.host) {
        const answer = await explainHost(sources, { ...askedObject(options.object), namespace })
        if (json) terminal.print(JSON.stringify(withoutStory(answer)))
        else for (const line of hostLines(answer)) terminal.print(line)
        return exitStatusOf(answer.verdict)
      }
      if (tenant === undefined) {
        throw new ConfigError(['whose object? name the tenant with -t, or ask from the host’s side with --host'])
      }
      const entry = await sources.registry.get(tenant)
      const answer = await explain(sources, { tenant, ...askedObject(options.object, entry), namespace })
      if (json) terminal.print(JSON.stringify({ verdict: answer.verdict, ...answer.facts }))
      else for (const line of whyLines(answer)) terminal.print(line)
      return exitStatusOf(answer.verdict)
    }),
  )
}

function withoutStory({ explanation, ...answer }: Awaited<ReturnType<typeof explainHost>>): object {
  return { ...answer, ...(explanation === undefined ? {} : { facts: explanation.facts }) }
}
