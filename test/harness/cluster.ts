import { systemClock } from '#libs/kernel'
import { type KubeClient, createKubeClient, isConflict, isNotFound, loadClusterConfig, reflect } from '#libs/kube'
import { type KubeObject, RESOURCES, type ResourceInfo } from '#libs/kube-model'

const apps = (plural: string, kind: string): ResourceInfo => ({
  group: 'apps',
  version: 'v1',
  plural,
  kind,
  namespaced: true,
})

/** A custom resource, once a test has defined it. */
const custom = (plural: string, kind: string, namespaced = true): ResourceInfo => ({
  group: 'tests.example.com',
  version: 'v1',
  plural,
  kind,
  namespaced,
})

/** The kinds that the tests use. */
const KINDS = {
  ...RESOURCES,
  'widgets.tests.example.com': custom('widgets', 'Widget'),
  'gadgets.tests.example.com': custom('gadgets', 'Gadget'),
  'tiers.tests.example.com': custom('tiers', 'Tier', false),
  deployments: apps('deployments', 'Deployment'),
  serviceaccounts: { ...RESOURCES.pods, plural: 'serviceaccounts', kind: 'ServiceAccount' },
} as const satisfies Record<string, ResourceInfo>

export type KindName = keyof typeof KINDS
export type Ref = { namespace?: string; name: string }
type WaitOptions = { timeoutMs?: number }

const WAIT_MS = 30_000

/** A cluster as a test sees it: whole objects, and waiting for what its watch says. */
export type Cluster = {
  readonly client: KubeClient
  readonly kubeconfig: string
  /** Creates an object of the kind it names. */
  create(object: KubeObject): Promise<KubeObject>
  get(kind: KindName, ref: Ref): Promise<KubeObject>
  /** The object, `undefined` when there is none. */
  find(kind: KindName, ref: Ref): Promise<KubeObject | undefined>
  list(kind: KindName, namespace?: string): Promise<KubeObject[]>
  /** A merge patch. */
  patch(kind: KindName, ref: Ref, patch: object): Promise<KubeObject>
  /** Deletes what stands under the name now. */
  delete(kind: KindName, ref: Ref, options?: { gracePeriodSeconds?: number }): Promise<void>
  /** Resolves with the first state of the object that is accepted. @throws Error with the last state after 30 s */
  until(kind: KindName, ref: Ref, accept: (object: KubeObject) => boolean, options?: WaitOptions): Promise<KubeObject>
  /** Resolves when there is no object of that name; with `uid`, when that one is gone. */
  untilGone(kind: KindName, ref: Ref & { uid?: string | undefined }, options?: WaitOptions): Promise<void>
  /** Resolves when all objects of a namespace together are accepted. */
  untilAll(
    kind: KindName,
    namespace: string,
    accept: (objects: KubeObject[]) => boolean,
    options?: WaitOptions,
  ): Promise<KubeObject[]>
  /** Keeps every event of the kind in the namespace from now on, in order. */
  record(kind: KindName, namespace: string): Promise<Recording>
  /** Deletes what was created through this connection and is still there, last first. Waits for none of it. */
  removeMade(): Promise<void>
  close(): Promise<void>
}

type RecordedEvent = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: KubeObject; at: number }
export type Recording = { readonly events: RecordedEvent[]; stop(): Promise<void> }

/** Connects by a kubeconfig. */
export async function openCluster(kubeconfig: string): Promise<Cluster> {
  const config = await loadClusterConfig({ path: kubeconfig, env: process.env, clock: systemClock })
  const client = createKubeClient(config, { fieldManager: 'e2e' })
  const untilState: UntilState = (kind, selection, accept, options) =>
    followUntil(client, KINDS[kind], selection, accept, options?.timeoutMs ?? WAIT_MS)
  const find: Cluster['find'] = async (kind, ref) => {
    try {
      return await client.get(KINDS[kind], ref)
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }
  const made: Made[] = []
  return {
    client,
    kubeconfig,
    create: async (object) => {
      const resource = Object.values(KINDS).find(({ kind }) => kind === object.kind)
      if (resource === undefined) throw new Error(`the tests do not know the kind ${object.kind}`)
      const created = await client.create(resource, { namespace: object.metadata.namespace }, object)
      made.push({ resource, metadata: created.metadata })
      return created
    },
    get: (kind, ref) => client.get(KINDS[kind], ref),
    find,
    list: async (kind, namespace) => (await client.listPage(KINDS[kind], { namespace, limit: 0 })).items,
    patch: (kind, ref, patch) => client.patch(KINDS[kind], ref, patch, { type: 'merge' }),
    delete: async (kind, ref, options) => {
      const found = await find(kind, ref)
      if (found === undefined) return
      await client.delete(KINDS[kind], ref, { uid: found.metadata.uid ?? '', ...options })
    },
    until: async (kind, ref, accept, options) => {
      const [object] = await untilState(kind, ref, ([found]) => found !== undefined && accept(found), options)
      return object as KubeObject
    },
    untilGone: async (kind, ref, options) => {
      const isGone = ([found]: KubeObject[]): boolean =>
        found === undefined || (ref.uid !== undefined && found.metadata.uid !== ref.uid)
      await untilState(kind, ref, isGone, options)
    },
    untilAll: (kind, namespace, accept, options) => untilState(kind, { namespace }, accept, options),
    record: (kind, namespace) => record(client, KINDS[kind], namespace),
    removeMade: () => removeMade(client, made.splice(0)),
    close: () => client.close(),
  }
}

type Made = { resource: ResourceInfo; metadata: KubeObject['metadata'] }

/** What is in a namespace that was made goes with that. */
async function removeMade(client: KubeClient, made: readonly Made[]): Promise<void> {
  const namespaces = new Set(made.filter(({ resource }) => resource.plural === 'namespaces').map(nameOf))
  const roots = made.filter(({ metadata }) => !namespaces.has(metadata.namespace ?? ''))
  for (const { resource, metadata } of roots.toReversed()) {
    const { namespace, name = '', uid = '' } = metadata
    try {
      await client.delete(resource, { namespace, name }, { uid, gracePeriodSeconds: 0 })
    } catch (error) {
      // It is gone, or another one has its name.
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }
}

function nameOf({ metadata }: Made): string {
  return metadata.name ?? ''
}

type UntilState = (
  kind: KindName,
  selection: { namespace?: string; name?: string },
  accept: (objects: KubeObject[]) => boolean,
  options?: WaitOptions,
) => Promise<KubeObject[]>

async function followUntil(
  client: KubeClient,
  resource: ResourceInfo,
  selection: { namespace?: string; name?: string },
  accept: (objects: KubeObject[]) => boolean,
  timeoutMs: number,
): Promise<KubeObject[]> {
  const { namespace, name } = selection
  const objects = new Map<string, KubeObject>()
  let isListed = false
  let trouble = ''
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(timeoutMs)])
  const fieldSelector = name === undefined ? undefined : `metadata.name=${name}`
  const events = reflect({
    client,
    resource,
    namespace,
    fieldSelector,
    clock: systemClock,
    random: Math.random,
    signal,
  })
  try {
    for await (const event of events) {
      if (event.type === 'STATE' && event.state === 'listing') objects.clear()
      if (event.type === 'STATE' && event.state === 'backing-off') trouble = `; ${event.message}`
      if (event.type === 'LISTED') isListed = true
      if (event.type === 'ADDED' || event.type === 'MODIFIED') objects.set(keyOf(event.object), event.object)
      if (event.type === 'DELETED') objects.delete(keyOf(event.object))
      const state = [...objects.values()]
      if (isListed && accept(state)) return state
    }
  } finally {
    stop.abort()
  }
  const last = [...objects.values()].slice(0, 3).map(({ metadata, status }) => ({ metadata, status }))
  throw new Error(
    `${resource.plural} ${namespace ?? ''}/${name ?? '*'} not as expected after ${timeoutMs} ms${trouble}; ` +
      `${objects.size} there: ${JSON.stringify(last)}`,
  )
}

async function record(client: KubeClient, resource: ResourceInfo, namespace: string): Promise<Recording> {
  const events: RecordedEvent[] = []
  const stop = new AbortController()
  const { signal } = stop
  const watching = Promise.withResolvers<void>()
  const run = async (): Promise<void> => {
    for await (const event of reflect({
      client,
      resource,
      namespace,
      clock: systemClock,
      random: Math.random,
      signal,
    })) {
      if (event.type === 'STATE' && event.state === 'watching') watching.resolve()
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED' && event.type !== 'DELETED') continue
      events.push({ type: event.type, object: event.object, at: event.observedAt })
    }
  }
  const done = run()
  await Promise.race([watching.promise, done])
  return {
    events,
    stop: async () => {
      stop.abort()
      await done
    },
  }
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`
}
