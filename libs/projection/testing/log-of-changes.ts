import {
  type ChangeType,
  type LoggedChange,
  MARKER_NAME,
  decodeChange,
  encodeChange,
  encodePayload,
} from '#libs/events'
import type { KubeObject, ObjectKey } from '#libs/kube-model'

/** Makes changes as they come from the log, each with the next sequence. */
export class LogOfChanges {
  seq = 0
  /** When changes are stored, ms since the epoch. */
  now = 1_000
  /** For which registration of the tenant. @default none is said */
  owner: string | undefined

  /** A state of an object, or its end. */
  change(type: ChangeType, key: ObjectKey, object: KubeObject): LoggedChange {
    const payload = encodePayload({ type, object })
    return this.#logged(type, key, { uid: object.metadata.uid ?? '', payload })
  }

  /** A change with a payload of any form. */
  raw(key: ObjectKey, payload: Uint8Array): LoggedChange {
    return this.#logged('ADDED', key, { uid: 'raw', payload })
  }

  /** The end of a list. */
  synced(of: Pick<ObjectKey, 'tenant' | 'side' | 'resource'>): LoggedChange {
    const key = { ...of, namespace: '', name: MARKER_NAME }
    return this.#logged('SYNCED', key, { uid: 'cluster', payload: encodePayload({ type: 'SYNCED' }) })
  }

  #logged(type: ChangeType, key: ObjectKey, state: { uid: string; payload: Uint8Array }): LoggedChange {
    this.seq++
    const change = {
      type,
      key,
      kind: 'Any',
      uid: state.uid,
      resourceVersion: String(this.seq),
      epoch: 1,
      observedAt: this.now,
      ...(this.owner === undefined ? {} : { owner: this.owner }),
    }
    const partition = key.tenant === '' ? 'all' : 0
    const message = encodeChange(change, { partition, payload: state.payload })
    return decodeChange({ ...message, seq: this.seq, storedAt: this.now })
  }
}
