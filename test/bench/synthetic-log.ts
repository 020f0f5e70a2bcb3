import type { Bus } from '#libs/bus'
import { createPublisher } from '#libs/bus'
import {
  type Change,
  type Intent,
  type Outcome,
  type WireMessage,
  encodeChange,
  encodeIntent,
  encodeOutcome,
  encodePayload,
} from '#libs/events'
import type { KubeObject, ObjectKey, Side } from '#libs/kube-model'

/** Messages that a pod leaves in the log until it runs: as the product's own runs count them. */
const MESSAGES_PER_POD = 12

/** Pods under way at once: one message of each is sent before the next of any, as in a burst. */
const BLOCK = 500
const TENANTS = 20
const PARTITIONS = 8
const T0 = 1_796_000_000_000

/** Fills the log with what pods leave there, at least `messages` of them. @returns how many it were */
export async function fillLog(bus: Bus, messages: number, onProgress?: (done: number) => void): Promise<number> {
  const publisher = createPublisher(bus)
  const pods = Math.ceil(messages / MESSAGES_PER_POD)
  let sent = 0
  try {
    for (let first = 0; first < pods; first += BLOCK) {
      const block = Array.from({ length: Math.min(BLOCK, pods - first) }, (_, index) => lifeOf(first + index))
      for (let step = 0; step < MESSAGES_PER_POD; step++) {
        for (const life of block) {
          await publisher.ready()
          const message = life[step]
          if (message === undefined) continue
          // What is refused fails the flush below, by the connection's end.
          void publisher.publish(message).catch(() => undefined)
          sent++
        }
      }
      onProgress?.(sent)
    }
    await publisher.flush()
    return sent
  } finally {
    publisher.close()
  }
}

/** What one pod leaves in the log, in order. */
function lifeOf(index: number): WireMessage[] {
  const tenant = `t${index % TENANTS}`
  const partition = index % PARTITIONS
  const name = `web-${index}`
  const key = (side: Side): ObjectKey => ({
    tenant,
    side,
    resource: 'pods',
    namespace: side === 'virtual' ? 'default' : `causeway-${tenant}`,
    name: side === 'virtual' ? name : `${name}-x-default-x-${tenant}`,
  })
  const trace = index.toString(16).padStart(32, '0')
  const traceparent = `00-${trace}-${trace.slice(16)}-01`
  const change = (side: Side, type: Change['type'], version: number, phase: string): WireMessage => {
    const of: Change = {
      type,
      key: key(side),
      kind: 'Pod',
      uid: `${side}-${index}`,
      resourceVersion: String(index * 10 + version),
      epoch: 1,
      observedAt: T0 + index,
      traceparent,
      owner: `registration-of-${tenant}`,
    }
    const payload = encodePayload({ type, object: podOf(key(side), of.uid, phase) })
    return encodeChange(of, { partition, payload })
  }
  const source = { resource: 'pods', namespace: 'default', name }
  const intent = (step: string, side: Side, write: Intent['write']): WireMessage =>
    encodeIntent(
      {
        id: `${tenant}/${index}/${step}`,
        target: key(side),
        write,
        source,
        sourceUid: `virtual-${index}`,
        needs: [],
        causeSeq: index,
        observedAt: T0 + index,
        loggedAt: T0 + index + 0.5,
        decidedAt: T0 + index + 1,
        rule: step,
        fence: 1,
        attempt: 0,
        translator: 'pods/1',
        traceparent,
      },
      partition,
    )
  const outcome = (step: string, side: Side, op: Outcome['op']): WireMessage =>
    encodeOutcome(
      {
        intentId: `${tenant}/${index}/${step}`,
        target: key(side),
        source,
        op,
        result: 'done',
        uid: `${side}-${index}`,
        resourceVersion: String(index),
        causeSeq: index,
        fence: 1,
        attempt: 0,
        stages: {
          observedAt: T0 + index,
          loggedAt: T0 + index + 0.5,
          decidedAt: T0 + index + 1,
          intentAt: T0 + index + 1.5,
          startedAt: T0 + index + 2,
          finishedAt: T0 + index + 5,
        },
        traceparent,
      },
      partition,
    )
  const uid = `virtual-${index}`
  const status = { phase: 'Running', ...runningStatus(index) }
  return [
    change('virtual', 'ADDED', 1, 'Pending'),
    intent('create', 'host', { op: 'create', body: podOf(key('host'), '', 'Pending') }),
    outcome('create', 'host', 'create'),
    change('host', 'ADDED', 2, 'Pending'),
    change('host', 'MODIFIED', 3, 'Pending'),
    intent('bind', 'virtual', { op: 'bind', node: `node-${index % 50}`, uid }),
    outcome('bind', 'virtual', 'bind'),
    change('virtual', 'MODIFIED', 4, 'Pending'),
    change('host', 'MODIFIED', 5, 'Running'),
    intent('status', 'virtual', {
      op: 'patch',
      patchType: 'strategic',
      body: { status },
      uid,
      subresource: 'status',
    }),
    outcome('status', 'virtual', 'patch'),
    change('virtual', 'MODIFIED', 6, 'Running'),
  ]
}

function runningStatus(index: number): { conditions: { type: string; status: string; lastTransitionTime: string }[] } {
  return {
    conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: new Date(T0 + index * 1_000).toISOString(),
    })),
  }
}

/** About 2 KB of JSON, as pods without their managed fields are. */
export function podOf({ namespace, name }: ObjectKey, uid: string, phase: string): KubeObject {
  const env = Array.from({ length: 12 }, (_, at) => ({ name: `SETTING_${at}`, value: `value-${at}-of-${name}` }))
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      uid,
      labels: { app: 'web', 'app.kubernetes.io/name': 'web', 'app.kubernetes.io/part-of': 'bench' },
      annotations: { 'bench/text': 'something that a tenant has written there '.repeat(4) },
    },
    spec: {
      containers: [
        {
          name: 'main',
          image: 'registry.example.com/web:1',
          env,
          ports: [{ containerPort: 8080, protocol: 'TCP' }],
          resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
          readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 30 },
        },
      ],
      tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
    },
    status: { phase },
  }
}
