import type { ApiObject } from './api-request.ts'
import type { Random } from './random.ts'

/** Kinds that the workload makes. */
export const WORK_KINDS = ['pods', 'configmaps', 'secrets', 'services', 'persistentvolumeclaims'] as const
export type WorkKind = (typeof WORK_KINDS)[number]

export type WorkRef = { kind: WorkKind; namespace: string; name: string }

/** One thing that a tenant does. */
export type Work = { at: number; tenant: string } & (
  | { do: 'create'; ref: WorkRef; object: ApiObject }
  | { do: 'patch'; ref: WorkRef; patch: object }
  | { do: 'delete'; ref: WorkRef; graceSeconds: number }
  /** Deletes it at once and makes another of the name. */
  | { do: 'recreate'; ref: WorkRef; object: ApiObject }
)

export const NAMESPACES = ['shop', 'blue']
/** Objects of this name find theirs taken on the host. */
export const BLOCKED = 'blocked'

const CONFIGS = 3
const WARM_PER_SECOND = 60
const LONG = 'a-pod-with-a-name-that-leaves-no-room-for-the-parts'

type Owned = { ref: WorkRef; uses: WorkRef[] }
type TenantModel = { name: string; namespaces: Map<string, { pods: Owned[]; others: Owned[]; made: number }> }

/**
 * Plans what tenants do: first they make what they have, then they change, delete and make it again. Counters in the
 * data grow with every change of the workload, so that a state can be told from a later one.
 */
export function planWork(
  random: Random,
  options: { tenants: string[]; pods: number; seconds: number },
): { work: Work[]; warmMs: number } {
  const work: Work[] = []
  let counter = 0
  const data = (): Record<string, string> => ({ counter: String(++counter), text: `v${random.whole(0, 1e9)}` })
  const podsEach = Math.ceil(options.pods / options.tenants.length / NAMESPACES.length)

  const create = (at: number, tenant: string, { ref, uses }: Owned): void => {
    work.push({ at, tenant, do: 'create', ref, object: objectOf(ref, uses, data()) })
  }
  const newPod = (model: TenantModel, namespace: string): Owned => {
    const place = placeOf(model, namespace)
    const number = place.made++
    const name = number === 0 ? LONG : `pod-${number}`
    const uses = ['configmaps', 'secrets', 'persistentvolumeclaims'].flatMap((kind) => {
      const there = place.others.filter(({ ref }) => ref.kind === kind)
      return there.length > 0 && random.chance(kind === 'persistentvolumeclaims' ? 0.2 : 0.7)
        ? [random.pick(there).ref]
        : []
    })
    const pod = { ref: { kind: 'pods' as const, namespace, name }, uses }
    place.pods.push(pod)
    return pod
  }

  const models: TenantModel[] = options.tenants.map((name) => ({
    name,
    namespaces: new Map(NAMESPACES.map((namespace) => [namespace, { pods: [], others: [], made: 0 }])),
  }))
  const first: { tenant: string; owned: Owned }[] = []
  for (const model of models) {
    for (const namespace of NAMESPACES) {
      const place = placeOf(model, namespace)
      const add = (kind: WorkKind, name: string): void => {
        const owned = { ref: { kind, namespace, name }, uses: [] }
        if (name !== BLOCKED) place.others.push(owned)
        first.push({ tenant: model.name, owned })
      }
      for (let index = 0; index < CONFIGS; index++) {
        add('configmaps', `config-${index}`)
        add('secrets', `secret-${index}`)
      }
      add('services', 'web')
      add('persistentvolumeclaims', 'data')
      if (namespace === NAMESPACES[0]) for (const kind of ['pods', 'services'] as const) add(kind, BLOCKED)
      for (let index = 0; index < podsEach; index++) {
        first.push({ tenant: model.name, owned: newPod(model, namespace) })
      }
    }
  }
  // What others refer to comes first, as people write it; the rest of the order is the tenants' own.
  const each = Math.ceil(first.length / models.length)
  first.forEach(({ tenant, owned }, index) => {
    const turn = (index % each) * models.length + Math.floor(index / each)
    create((turn * 1_000) / WARM_PER_SECOND, tenant, owned)
  })
  const warmMs = Math.ceil((first.length * 1_000) / WARM_PER_SECOND)

  const perSecond = Math.min(25, Math.max(8, options.pods / 8))
  for (let index = 0; index < options.seconds * perSecond; index++) {
    const at = warmMs + (index * 1_000) / perSecond
    const model = random.pick(models)
    const namespace = random.pick(NAMESPACES)
    const place = placeOf(model, namespace)
    const tenant = model.name
    const kind = random.next()
    const pod = place.pods.length === 0 ? undefined : random.pick(place.pods)
    if (pod === undefined || kind < 0.18) create(at, tenant, newPod(model, namespace))
    else if (kind < 0.34) {
      place.pods.splice(place.pods.indexOf(pod), 1)
      work.push({ at, tenant, do: 'delete', ref: pod.ref, graceSeconds: random.pick([0, 1]) })
    } else if (kind < 0.46) {
      work.push({ at, tenant, do: 'recreate', ref: pod.ref, object: objectOf(pod.ref, pod.uses, data()) })
    } else if (kind < 0.58) {
      const patch = { metadata: { labels: { version: data()['counter'] } } }
      work.push({ at, tenant, do: 'patch', ref: pod.ref, patch })
    } else if (kind < 0.64) {
      const patch = { spec: { containers: [{ ...containerOf([]), image: imageOf(++counter) }] } }
      work.push({ at, tenant, do: 'patch', ref: pod.ref, patch: imagePatch(patch, pod.uses) })
    } else workOnOther(at, { tenant, place, namespace })
  }
  return { work, warmMs }

  function workOnOther(
    at: number,
    on: { tenant: string; place: { pods: Owned[]; others: Owned[] }; namespace: string },
  ): void {
    const { tenant, place, namespace } = on
    const other = random.pick(place.others)
    const isUsed = place.pods.some(({ uses }) => uses.includes(other.ref))
    const what = random.next()
    if (other.ref.kind === 'persistentvolumeclaims') {
      if (isUsed || other.ref.name === 'data') {
        const name = `data-${++counter}`
        const claim: Owned = { ref: { kind: 'persistentvolumeclaims', namespace, name }, uses: [] }
        place.others.push(claim)
        create(at, tenant, claim)
      } else {
        place.others.splice(place.others.indexOf(other), 1)
        work.push({ at, tenant, do: 'delete', ref: other.ref, graceSeconds: 0 })
      }
    } else if (what < 0.15) {
      work.push({ at, tenant, do: 'recreate', ref: other.ref, object: objectOf(other.ref, [], data()) })
    } else if (other.ref.kind === 'services') {
      const ports = [{ name: 'http', port: 1_000 + (++counter % 9_000), protocol: 'TCP' }]
      work.push({ at, tenant, do: 'patch', ref: other.ref, patch: { spec: { ports } } })
    } else {
      work.push({ at, tenant, do: 'patch', ref: other.ref, patch: { data: dataOf(other.ref.kind, data()) } })
    }
  }
}

function placeOf(model: TenantModel, namespace: string): { pods: Owned[]; others: Owned[]; made: number } {
  const place = model.namespaces.get(namespace)
  if (place === undefined) throw new Error(`${model.name} has no namespace ${namespace}`)
  return place
}

function dataOf(kind: WorkKind, data: Record<string, string>): Record<string, string> {
  if (kind !== 'secrets') return data
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]))
}

const imageOf = (version: number): string => `registry.k8s.io/pause:3.${version}`

function containerOf(uses: readonly WorkRef[]): Record<string, unknown> {
  const volumeMounts = uses.map(({ kind }) => ({ name: kind, mountPath: `/mnt/${kind}` }))
  return { name: 'main', image: imageOf(0), volumeMounts }
}

/** A merge patch replaces lists: the whole container again. */
function imagePatch(patch: { spec: { containers: Record<string, unknown>[] } }, uses: readonly WorkRef[]): object {
  const [container] = patch.spec.containers
  return { spec: { containers: [{ ...containerOf(uses), image: container?.['image'] }] } }
}

function objectOf(ref: WorkRef, uses: readonly WorkRef[], data: Record<string, string>): ApiObject {
  const metadata = { namespace: ref.namespace, name: ref.name }
  switch (ref.kind) {
    case 'pods':
      return {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...metadata, labels: { app: 'web', version: data['counter'] ?? '' } },
        spec: {
          terminationGracePeriodSeconds: 1,
          automountServiceAccountToken: false,
          containers: [containerOf(uses)],
          volumes: uses.map(volumeOf),
        },
      }
    case 'configmaps':
      return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
    case 'secrets':
      return { apiVersion: 'v1', kind: 'Secret', metadata, data: dataOf('secrets', data) }
    case 'services': {
      const ports = [{ name: 'http', port: 80, protocol: 'TCP' }]
      return { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: { app: 'web' }, ports } }
    }
    case 'persistentvolumeclaims': {
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
      return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec }
    }
  }
}

function volumeOf({ kind, name }: WorkRef): Record<string, unknown> {
  if (kind === 'configmaps') return { name: kind, configMap: { name } }
  if (kind === 'secrets') return { name: kind, secret: { secretName: name } }
  return { name: kind, persistentVolumeClaim: { claimName: name } }
}
