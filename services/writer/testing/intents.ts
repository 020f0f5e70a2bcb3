import type { LoggedIntent, Write } from '#libs/events'
import type { KubeObject } from '#libs/kube-model'

export const TENANT = 'team-a'
export const HOST_NAMESPACE = 'cw-team-a'

/** An intent as the log would give it, for tests; sequences count up unless given. */
export function intentOf(write: Write, more: Partial<LoggedIntent> = {}): LoggedIntent {
  const seq = more.seq ?? 1
  return {
    id: `intent-${seq}`,
    target: {
      tenant: TENANT,
      side: 'host',
      resource: 'pods',
      namespace: HOST_NAMESPACE,
      name: 'web-x-default-x-team-a',
    },
    write,
    source: { resource: 'pods', namespace: 'default', name: 'web' },
    needs: [],
    causeSeq: seq,
    observedAt: 1_000,
    loggedAt: 1_001,
    decidedAt: 1_002,
    rule: 'create',
    fence: 1,
    attempt: 0,
    seq,
    storedAt: 1_003,
    partition: 0,
    ...more,
  }
}

/** A host copy with our stamps. */
export function hostCopy(
  options: { name?: string; namespace?: string; of?: string; uid?: string; resource?: string } = {},
) {
  const { name = 'web-x-default-x-team-a', namespace = HOST_NAMESPACE, of = 'web', resource = 'pods' } = options
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: resource === 'secrets' ? 'Secret' : resource === 'configmaps' ? 'ConfigMap' : 'Pod',
    metadata: {
      name,
      namespace,
      labels: { 'causeway.dev/tenant': TENANT, 'causeway.dev/namespace': 'default' },
      annotations: {
        'causeway.dev/name': of,
        'causeway.dev/namespace': 'default',
        'causeway.dev/uid': options.uid ?? 'virtual-1',
        'causeway.dev/resource': resource,
        'causeway.dev/host-name': `${namespace}/${name}`,
      },
    },
  }
  return object
}

export const writes = {
  create: (body: KubeObject = hostCopy()): Write => ({ op: 'create', body }),
  patch: (uid = 'u1'): Write => ({ op: 'patch', patchType: 'merge', body: { spec: {} }, uid }),
  status: (uid = 'u1'): Write => ({
    op: 'patch',
    patchType: 'strategic',
    body: { status: {} },
    uid,
    subresource: 'status',
  }),
  bind: (uid = 'u1', node = 'node-1'): Write => ({ op: 'bind', node, uid }),
  remove: (uid = 'u1'): Write => ({ op: 'delete', uid, proof: { kind: 'tombstone', seq: 7 } }),
  announce: (count?: number): Write => ({
    op: 'announce',
    body: {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'web.1', namespace: 'default' },
      ...(count === undefined ? {} : { count }),
    },
  }),
}
