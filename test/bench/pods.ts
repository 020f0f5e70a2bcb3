import { CausewayError, systemClock } from '#libs/kernel'
import { type KubeClient, isAlreadyExists, isNotFound } from '#libs/kube'
import { type KubeObject, RESOURCES } from '#libs/kube-model'

/** Names one measurement's pods; host copies carry it in an annotation of the original. */
export const NAMESPACE = 'bench'

/** Where the baseline's pods are on the host. */
export const BASELINE_NAMESPACE = 'bench-baseline'

/** A pod as it is usual: one container with environment, also from ConfigMaps, resources and a probe. */
function podNamed(name: string, configMaps: readonly string[]): object {
  const environment = Array.from({ length: 8 }, (_, index) => ({ name: `SETTING_${index}`, value: `value-${index}` }))
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'bench', 'app.kubernetes.io/name': 'bench' }, annotations: { 'bench/run': name } },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'main',
          image: 'registry.k8s.io/pause:3.10',
          env: environment,
          ...(configMaps.length === 0 ? {} : { envFrom: configMaps.map((map) => ({ configMapRef: { name: map } })) }),
          ports: [{ containerPort: 8080 }],
          resources: { requests: { cpu: '1m', memory: '1Mi' } },
          readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 30 },
        },
      ],
    },
  }
}

/** The name a pod was given here: host copies keep it in an annotation. */
export function benchName(pod: KubeObject): string | undefined {
  return pod.metadata.annotations?.['bench/run']
}

export async function ensureNamespace(client: KubeClient, name: string): Promise<void> {
  try {
    await client.create(RESOURCES.namespaces, {}, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}

/** Creates a pod; resolves to the times before the call and after the answer, in ms since the epoch. */
export async function createPod(
  client: KubeClient,
  namespace: string,
  name: string,
  configMaps: readonly string[] = [],
): Promise<{ sentAt: number; answeredAt: number }> {
  const sentAt = systemClock.now()
  await client.create(RESOURCES.pods, { namespace }, podNamed(name, configMaps))
  return { sentAt, answeredAt: systemClock.now() }
}

/** Deletes what the run has created. */
export async function deletePods(client: KubeClient, namespace: string): Promise<void> {
  const page = await client.listPage(RESOURCES.pods, { namespace, limit: 0 })
  await inParallel(page.items, async (pod) => {
    const { name = '', uid = '' } = pod.metadata
    try {
      await client.delete(RESOURCES.pods, { namespace, name }, { uid, gracePeriodSeconds: 0 })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  })
}

/** Calls under way at once in a burst: enough to keep an API server busy. */
const PARALLEL = 20

export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
}

/** The element, which must be there. */
export function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new CausewayError(`${what} is missing`, { code: 'BenchFailed' })
  return value
}
