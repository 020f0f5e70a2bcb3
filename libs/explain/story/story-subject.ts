import { ALL_PARTITIONS, type RecordType, STREAMS, partitionOf, subjectFor } from '#libs/events'
import type { ObjectKey, ObjectRef } from '#libs/kube-model'
import { type TenantContext, hostRefOf, isMirrored, mirrorFor } from '#libs/translation'

/** Whose story is read: one object of a tenant, with what stands for it, or what it stands for, on the host. */
export type StorySubject = {
  tenant: string
  partition: number
  ref: ObjectRef
  virtual: ObjectKey
  /** The tenant's copy on the host; absent for kinds whose originals are there. */
  copy?: ObjectKey
  /** The host's own object that the tenant sees under this name, for kinds that come from there. */
  original?: ObjectKey
}

/** The subject of a story, by the tenant's object. */
export function storySubject(
  tenant: TenantContext,
  ref: ObjectRef,
  { partitions }: { partitions: number },
): StorySubject {
  const mirror = mirrorFor(ref.resource)
  const original = mirror?.originalOf === undefined ? ref : mirror.originalOf(ref, tenant)
  const isFromHost = mirror !== undefined && original !== undefined
  return {
    tenant: tenant.name,
    partition: partitionOf(tenant.name, partitions),
    ref,
    virtual: { tenant: tenant.name, side: 'virtual', ...ref },
    ...(isMirrored(ref.resource) ? {} : { copy: { tenant: tenant.name, side: 'host', ...hostRefOf(ref, tenant) } }),
    ...(isFromHost ? { original: { tenant: '', side: 'host', ...original } } : {}),
  }
}

/** The subjects that hold a story, by stream. What the tenant was told is in Events of its object's namespace. */
export function storyFilters(about: StorySubject): Record<'CHANGES' | 'INTENTS' | 'OUTCOMES', string[]> {
  const { partition, virtual, copy, original, tenant, ref } = about
  const targets = [virtual, ...(copy === undefined ? [] : [copy])]
  const of = (type: RecordType): string[] => targets.map((key) => subjectFor(type, partition, key))
  const told = (type: RecordType): string[] => {
    if (ref.namespace === '' || ref.resource === 'events') return []
    const events = { tenant, side: 'virtual', resource: 'events', namespace: ref.namespace, name: 'any' } as const
    return [subjectFor(type, partition, events).replace(/\.any$/, '.*')]
  }
  return {
    [STREAMS.changes]: [
      ...of('change'),
      ...(original === undefined ? [] : [subjectFor('change', ALL_PARTITIONS, original)]),
    ],
    [STREAMS.intents]: [...of('intent'), ...told('intent')],
    [STREAMS.outcomes]: [...of('outcome'), ...told('outcome')],
  }
}
