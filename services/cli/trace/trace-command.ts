import { type StoryEntry, followStory, readStory, storySpans, storySubject } from '#libs/explain'
import { ConfigError } from '#libs/kernel'
import { resourceToken } from '#libs/kube-model'
import { readTenantContext } from '#libs/runtime'
import { type CommandOptions, withRunning } from '../tenant/running.ts'
import { askedObject } from '../why/asked-object.ts'
import { EXIT } from '../why/exit-status.ts'
import { withSources } from '../why/open-sources.ts'
import { parseSince } from './parse-since.ts'
import { entryLines } from './entry-lines.ts'

const OUTPUTS = ['text', 'json', 'otlp'] as const

/**
 * Shows an object's story: as lines, as one JSON object per entry, or as spans. Exit status 1 when the log holds none.
 * @throws ConfigError
 */
export async function trace(
  options: CommandOptions & {
    object: string
    namespace: string
    tenant: string | undefined
    follow: boolean
    since: string | undefined
    output: string
  },
): Promise<number> {
  const { terminal, folder, tenant, signal, follow } = options
  const output = OUTPUTS.find((each) => each === options.output)
  if (output === undefined) throw new ConfigError([`-o ${options.output}: must be one of ${OUTPUTS.join(', ')}`])
  if (tenant === undefined) throw new ConfigError(['whose object? name the tenant with -t'])
  if (follow && output === 'otlp') throw new ConfigError(['-o otlp cannot follow: spans are made of what is over'])
  return withRunning(options, (running) =>
    withSources(running, folder, async (sources) => {
      const entry = await sources.registry.get(tenant)
      const { context, problems } = readTenantContext(entry)
      if (context === undefined) {
        throw new ConfigError(
          entry === undefined ? [`no tenant "${tenant}": "causeway tenant list" shows those there are`] : problems,
        )
      }
      const { info, name } = askedObject(options.object, entry)
      const namespace = info.namespaced ? options.namespace : ''
      const about = storySubject(context, { resource: resourceToken(info), namespace, name }, sources)
      const since = options.since === undefined ? 0 : parseSince(options.since, sources.now())
      const show = (each: StoryEntry): void => {
        if (output === 'json') terminal.print(JSON.stringify(each))
        else for (const line of entryLines(each)) terminal.print(line)
      }
      if (follow) {
        for await (const each of followStory(sources, about, { since, signal })) show(each)
        return EXIT.inSync
      }
      const { entries, isCut } = await readStory(sources, about, { since, signal })
      if (output === 'otlp') terminal.print(JSON.stringify(storySpans(entries)))
      else for (const each of entries) show(each)
      if (isCut) terminal.progress('The history no longer reaches back to the beginning: what is older is not shown.')
      if (entries.length === 0)
        terminal.progress(`the log holds nothing about ${options.object}; "causeway why" says why`)
      return entries.length === 0 ? EXIT.notInSync : EXIT.inSync
    }),
  )
}
