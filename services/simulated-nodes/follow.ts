import type { Clock } from '#libs/kernel'
import type { KubeObject, ResourceInfo } from '#libs/kube-model'
import { reflect } from '#libs/kube'
import type { KubeClient } from '#libs/kube'

export type FollowOptions = {
  client: KubeClient
  resource: ResourceInfo
  /** @default all objects */
  labelSelector?: string
  clock: Clock
  random: () => number
  signal: AbortSignal
  /** Called for every object that is new or changed, with its former state. */
  onStored: (object: KubeObject, previous: KubeObject | undefined) => void
  /** Called when an object is gone. */
  onRemoved: (object: KubeObject) => void
  onState: (state: 'listing' | 'watching' | 'backing-off', message: string | undefined) => void
}

/** The objects of one kind as the cluster last told them. */
export type Followed = {
  objects: ReadonlyMap<string, KubeObject>
  /** Resolves when the first list is complete. */
  synced: Promise<void>
  /** Settles when following has ended. */
  done: Promise<void>
}

/** Lists and watches one kind until the signal aborts. Keys are `namespace/name`. */
export function follow(options: FollowOptions): Followed {
  const objects = new Map<string, KubeObject>()
  const synced = Promise.withResolvers<void>()

  function store(object: KubeObject): void {
    const key = keyOf(object.metadata)
    const previous = objects.get(key)
    // A name that was taken by a new object between two lists: the old one is gone.
    if (previous !== undefined && previous.metadata.uid !== object.metadata.uid) options.onRemoved(previous)
    objects.set(key, object)
    options.onStored(object, previous?.metadata.uid === object.metadata.uid ? previous : undefined)
  }

  function remove(metadata: { namespace?: string; name?: string; uid?: string }): void {
    const key = keyOf(metadata)
    const object = objects.get(key)
    if (object === undefined || object.metadata.uid !== metadata.uid) return
    objects.delete(key)
    options.onRemoved(object)
  }

  async function run(): Promise<void> {
    const { client, resource, labelSelector, clock, random, signal } = options
    const known = (): Iterable<{ namespace: string; name: string; uid: string }> =>
      [...objects.values()].map(({ metadata: { namespace = '', name = '', uid = '' } }) => ({ namespace, name, uid }))
    for await (const event of reflect({ client, resource, labelSelector, clock, random, signal, known })) {
      switch (event.type) {
        case 'ADDED':
        case 'MODIFIED':
          store(event.object)
          break
        case 'DELETED':
          remove(event.object.metadata)
          break
        case 'LISTED':
          for (const missing of event.missing) remove(missing)
          synced.resolve()
          break
        case 'STATE':
          options.onState(event.state, event.state === 'backing-off' ? event.message : undefined)
          break
        case 'BOOKMARK':
          break
      }
    }
  }

  const done = run()
  return { objects, synced: synced.promise, done }
}

function keyOf({ namespace, name }: { namespace?: string; name?: string }): string {
  return `${namespace ?? ''}/${name ?? ''}`
}
