import type { JsonObject } from '#libs/kube-model'

/**
 * The patch with its preconditions: another object under the name, or where the version counts another state of it,
 * answers with an error and is left alone.
 */
export function withPreconditions(
  body: JsonObject | JsonObject[],
  { uid, resourceVersion }: { uid: string; resourceVersion?: string },
): JsonObject | JsonObject[] {
  const required = { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) }
  if (Array.isArray(body)) {
    const tests = Object.entries(required).map(([field, value]) => ({ op: 'test', path: `/metadata/${field}`, value }))
    return [...tests, ...body]
  }
  const metadata = (body['metadata'] ?? {}) as JsonObject
  return { ...body, metadata: { ...metadata, ...required } }
}
