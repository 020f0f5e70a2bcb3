import type { Write } from '#libs/events'
import type { KubeObject } from '#libs/kube-model'
import { asObject } from './json.ts'
import { ANNOTATIONS } from './stamps.ts'

/**
 * A tenant's object that is being made anew. Its host copy carries this from before the deletion until the new object is
 * seen, so that neither a crash nor a lost projection can turn it into a deletion by the tenant.
 */
export type Replacement = {
  /** Uid of the object that goes. */
  uid: string
  /** What comes in its place. */
  body: KubeObject
  /** What the tenant's controllers delete together with the object, and nobody but us would bring back. */
  endpoints?: KubeObject
}

/** The value of the annotation that keeps a replacement. */
export function replacementMark({ uid, body, endpoints }: Replacement): string {
  return JSON.stringify({ uid, body, ...(endpoints === undefined ? {} : { endpoints }) })
}

/** The replacement that a host copy carries. One that cannot be read is none. */
export function replacementOn(copy: KubeObject): Replacement | undefined {
  const text = copy.metadata.annotations?.[ANNOTATIONS.replacement]
  if (text === undefined) return undefined
  try {
    const mark = asObject(JSON.parse(text))
    const body = asObject(mark?.body)
    if (typeof mark?.uid !== 'string' || asObject(body?.metadata) === undefined) return undefined
    const endpoints = asObject(mark.endpoints)
    return {
      uid: mark.uid,
      body: body as unknown as KubeObject,
      ...(endpoints === undefined ? {} : { endpoints: endpoints as unknown as KubeObject }),
    }
  } catch {
    return undefined
  }
}

/**
 * Brings a replacement to its end, whatever is left of it: what is missing is created; where nothing was deleted, the
 * note is taken off the copy. Only a live read can tell the two apart.
 */
export function finishReplacement({ uid, body }: Replacement, copy: KubeObject): Write {
  const { name = '', uid: copyUid = '' } = copy.metadata
  return { op: 'replace', body, uid, copy: { name, uid: copyUid } }
}
