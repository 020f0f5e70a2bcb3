import { jsonEqual } from '#libs/kernel'
import type { Json, KubeObject } from '#libs/kube-model'
import type { ClusterApi } from '../cluster-api.ts'
import { deleteObject } from './delete-object.ts'
import { templateHash } from './deployment.ts'
import { controllerOf, controllerReference } from './owner-references.ts'
import type { PodTemplate } from './pods.ts'

const RESOURCE = 'controllerrevisions.apps'
const DEFAULT_LIMIT = 10

/** Label by which pods say of which revision they are. */
export const REVISION_LABEL = 'controller-revision-hash'

type Revision = KubeObject & { revision?: number; data?: Json }

export type RevisionOwner = { object: KubeObject; apiVersion: string; kind: string; template: PodTemplate }

/** The name of the revision that holds the owner's template; made, or made the newest again, when it is not. */
export function keepRevision(api: ClusterApi, owner: RevisionOwner): string {
  const data = { spec: { template: { ...owner.template, $patch: 'replace' } } } as unknown as Json
  const revisions = revisionsOf(api, owner.object)
  const newest = Math.max(0, ...revisions.map(({ revision = 0 }) => revision))
  const same = revisions.find((revision) => jsonEqual(revision.data ?? null, data))
  if (same !== undefined) {
    if ((same.revision ?? 0) < newest) api.update(RESOURCE, { ...same, revision: newest + 1 })
    return same.metadata.name ?? ''
  }
  const { namespace, name = '' } = owner.object.metadata
  const hash = templateHash(owner.template, undefined)
  const made = api.create(RESOURCE, namespace, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${name}-${hash}`,
      labels: { ...owner.template.metadata?.labels, [REVISION_LABEL]: hash },
      ownerReferences: [controllerReference(owner.object, owner.apiVersion, owner.kind)],
    },
    data,
    revision: newest + 1,
  })
  return made.metadata.name ?? ''
}

/** Deletes the oldest revisions that no pod is of, beyond the owner's limit. */
export function pruneRevisions(api: ClusterApi, owner: KubeObject, inUse: ReadonlySet<string>): void {
  const { revisionHistoryLimit = DEFAULT_LIMIT } = (owner['spec'] ?? {}) as { revisionHistoryLimit?: number }
  const unused = revisionsOf(api, owner).filter(({ metadata }) => !inUse.has(metadata.name ?? ''))
  unused.sort((a, b) => (a.revision ?? 0) - (b.revision ?? 0))
  for (const revision of unused.slice(0, Math.max(0, unused.length - revisionHistoryLimit))) {
    deleteObject(api, RESOURCE, revision)
  }
}

/** The template that a revision holds; `undefined` when it is gone. */
export function revisionTemplate(
  api: ClusterApi,
  namespace: string | undefined,
  name: string,
): PodTemplate | undefined {
  const revision = api.get(RESOURCE, namespace, name) as Revision | undefined
  const { template } =
    ((revision?.data ?? {}) as { spec?: { template?: PodTemplate & { $patch?: string } } }).spec ?? {}
  if (template === undefined) return undefined
  const { $patch: _, ...plain } = template
  return plain
}

function revisionsOf(api: ClusterApi, owner: KubeObject): Revision[] {
  const all = api.list(RESOURCE, { namespace: owner.metadata.namespace ?? '' }) as Revision[]
  return all.filter((revision) => controllerOf(revision)?.uid === owner.metadata.uid)
}
