import {
  type Sources,
  type StorySubject,
  explain,
  explainHost,
  followStory,
  readStory,
  storySpans,
  storySubject,
} from '#libs/explain'
import { type Side } from '#libs/kube-model'
import type { TenantRegistry } from '#libs/runtime'
import { findObjects, findOverAll } from '../objects/find-objects.ts'
import { sidesAsOf } from '../objects/sides.ts'
import { waterfall } from '../objects/waterfall.ts'
import { Problem } from '../http/problem.ts'
import type { Asked, Route } from '../http/route.ts'
import * as views from '../views.ts'
import type { ConsoleContext } from './console-context.ts'
import { namedObject, objectQuery, pageQuery, placed, registered } from './shared.ts'

const OBJECT = '/api/v1/tenants/{tenant}/objects/{resource}/{namespace}/{name}'
const since = { type: 'time', description: 'earlier entries are left out' } as const
const LAST_MOMENT = Number.MAX_SAFE_INTEGER
/** Entries of one story that are told at once: the last ones. */
const ENTRIES = 1_000

/** Routes about objects: where they are, their story, why they are as they are, and how they were. */
export function objectRoutes(context: ConsoleContext, sources: Sources): Route[] {
  const log = { bus: context.bus, vault: context.vault }
  const subjectOf = (path: Asked['path']): StorySubject => {
    const tenant = context.directory.context(registered(context, path['tenant']).name)
    if (tenant === undefined) throw new Problem(404, 'NoSuchTenant', `tenant "${path['tenant']}" is not taken in`)
    return storySubject(tenant, namedObject(context, path).ref, context)
  }
  const sideOf = (text: string | undefined): Side | undefined =>
    text === 'virtual' || text === 'host' ? text : undefined
  const choiceOf = ({ text, number }: Asked) => ({
    search: text('search') ?? '',
    side: sideOf(text('side')),
    resource: text('resource'),
    namespace: text('namespace'),
    offset: number('offset'),
    limit: number('limit'),
  })
  return [
    {
      kind: 'answer',
      method: 'GET',
      path: '/api/v1/objects',
      summary: 'Objects of a name, over all tenants',
      query: {
        ...objectQuery,
        search: { type: 'text', description: 'the name, or a part of it', isRequired: true },
        ...pageQuery,
      },
      isHeavy: true,
      answer: views.foundPage,
      handle: (asked) =>
        findOverAll(context.bus, {
          ...choiceOf(asked),
          tenants: context.directory.tenants().map(({ name }) => placed(context, name)),
          now: () => context.clock.now(),
        }),
    },
    {
      kind: 'answer',
      method: 'GET',
      path: '/api/v1/tenants/{tenant}/objects',
      summary: 'Objects of a tenant, both sides, by what the log last said of each',
      query: { ...objectQuery, ...pageQuery },
      isHeavy: true,
      answer: views.foundPage,
      handle: async (asked) =>
        findObjects(context.bus, { ...choiceOf(asked), tenant: placed(context, asked.path['tenant']) }),
    },
    {
      kind: 'answer',
      method: 'GET',
      path: '/api/v1/tenants/{tenant}/as-of',
      summary:
        'Objects of a tenant as of a time, both sides, replayed from the log; of the host alone, with those that concern all',
      query: {
        at: { type: 'time', description: 'the time', isRequired: true },
        ...objectQuery,
        ...pageQuery,
      },
      isHeavy: true,
      answer: views.asOfPage,
      handle: async (asked) =>
        context.moments.page({
          ...choiceOf(asked),
          tenant: placed(context, asked.path['tenant']),
          at: asked.number('at'),
        }),
    },
    {
      kind: 'answer',
      method: 'GET',
      path: `${OBJECT}/story`,
      summary: 'An object’s story over both sides: changes, intents and outcomes, in causal order',
      query: { since },
      isHeavy: true,
      answer: views.story,
      handle: async ({ path, number, signal }) => {
        const { entries, isCut } = await readStory(log, subjectOf(path), { since: number('since') || 0, signal })
        return { isCut: isCut || entries.length > ENTRIES, entries: entries.slice(-ENTRIES) }
      },
    },
    {
      kind: 'events',
      method: 'GET',
      path: `${OBJECT}/live`,
      summary: 'What is added to an object’s story from now on',
      events: { entry: views.story.shape.entries.element },
      stream: async ({ path, signal }, send) => {
        const about = subjectOf(path)
        for await (const entry of followStory(log, about, { since: context.clock.now(), signal })) send('entry', entry)
      },
    },
    {
      kind: 'answer',
      method: 'GET',
      path: `${OBJECT}/sides`,
      summary: 'Both sides of an object as YAML, now or as of a time',
      query: { at: { ...since, description: 'the time; now where none is given' } },
      isHeavy: true,
      answer: views.sides,
      handle: async ({ path, text, number, signal }) => {
        const about = subjectOf(path)
        const story = await readStory(log, about, { states: true, signal })
        const at = text('at') === undefined ? LAST_MOMENT : number('at')
        const sides = await sidesAsOf(context.bus, { about, story, at, vault: context.vault })
        return { ...sides, at: Math.min(at, context.clock.now()) }
      },
    },
    {
      kind: 'answer',
      method: 'GET',
      path: `${OBJECT}/why`,
      summary: 'Why an object is, or is not, where it should be, from the log and a live look at both sides',
      isHeavy: true,
      answer: views.explanation,
      handle: async ({ path }) => {
        const { name: tenant } = registered(context, path['tenant'])
        const { ref, info } = namedObject(context, path)
        const { verdict, facts } = await explain(sources, { tenant, info, namespace: ref.namespace, name: ref.name })
        return { verdict, facts }
      },
    },
    {
      kind: 'answer',
      method: 'GET',
      path: `${OBJECT}/trace`,
      summary: 'The traces of an object’s changes as waterfalls, the latest first',
      isHeavy: true,
      answer: views.trace,
      handle: async ({ path, signal }) =>
        waterfall(storySpans((await readStory(log, subjectOf(path), { signal })).entries.slice(-ENTRIES))),
    },
    {
      kind: 'answer',
      method: 'GET',
      path: '/api/v1/host-objects/{resource}/{namespace}/{name}',
      summary: 'Whose an object on the host is',
      isHeavy: true,
      answer: views.hostExplanation,
      handle: async ({ path }) => {
        const { ref, info } = namedObject(context, path)
        const { verdict, owner } = await explainHost(sources, { info, namespace: ref.namespace, name: ref.name })
        return { verdict, ...(owner === undefined ? {} : { owner }) }
      },
    },
  ]
}

/** What answers about objects are made from, with the clients that the process has anyway. */
export function sourcesOf(context: ConsoleContext, registry: TenantRegistry): Sources {
  const { bus, vault, clock, partitions, replicas, directory } = context
  return {
    bus,
    registry,
    vault,
    partitions,
    replicas,
    // The host may be registered anew meanwhile.
    get host() {
      return directory.host()
    },
    now: () => clock.now(),
    clientOf: ({ name }) => {
      const client = directory.client(name)
      if (client === undefined) throw new Problem(404, 'NoSuchTenant', `no tenant "${name}" is registered`)
      return client
    },
  }
}
