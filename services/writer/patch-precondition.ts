import type { JsonObject } from '#libs/kube-model'

/** The patch with the uid as a precondition: another object under the name answers with an error and is left alone. */
export function withUidPrecondition(body: JsonObject | JsonObject[], uid: string): JsonObject | JsonObject[] {
  if (Array.isArray(body)) return [{ op: 'test', path: '/metadata/uid', value: uid }, ...body]
  const metadata = (body['metadata'] ?? {}) as JsonObject
  return { ...body, metadata: { ...metadata, uid } }
}
