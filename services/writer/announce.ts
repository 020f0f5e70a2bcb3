import type { Write } from '#libs/events'
import { isAlreadyExists } from '#libs/kube'
import type { JsonObject } from '#libs/kube-model'
import type { Call } from './execute.ts'
import { type Attempt, done } from './result.ts'

/** Creates an Event, or raises the count of the one that is there. */
export async function announce(call: Call<Extract<Write, { op: 'announce' }>>): Promise<Attempt> {
  const { target } = call.intent
  const { body } = call.write
  try {
    const made = await call.client.create(call.resource, { namespace: target.namespace }, body, call.options)
    return done(made.metadata)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  const live = await call.client.get(call.resource, target, call.options)
  // The same news again, after a crash: it is told already.
  const told = typeof live['count'] === 'number' ? live['count'] : 1
  const isSameNews = live['lastTimestamp'] === body['lastTimestamp'] && live['message'] === body['message']
  if (isSameNews && !(typeof body['count'] === 'number' && body['count'] > told)) return done(live.metadata)
  const patch: JsonObject = {
    count: typeof body['count'] === 'number' ? Math.max(body['count'], told) : told + 1,
    ...(typeof body['lastTimestamp'] === 'string' ? { lastTimestamp: body['lastTimestamp'] } : {}),
    ...(typeof body['message'] === 'string' ? { message: body['message'] } : {}),
  }
  const patched = await call.client.patch(call.resource, target, patch, { ...call.options, type: 'merge' })
  return done(patched.metadata)
}
