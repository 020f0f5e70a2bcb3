import type { PodTokens, Write } from '#libs/events'
import { KubeApiError } from '#libs/kube'
import { type KubeObject, RESOURCES } from '#libs/kube-model'
import { classify, saidBy } from './classify.ts'
import type { Call, ExecuteDeps } from './execute.ts'
import { withoutQuotes } from './outcome-of.ts'
import { type TokenSecret, isTokenRefusal, ownedBy, requestTokens, storeTokens } from './pod-tokens.ts'
import { type Attempt, parked } from './result.ts'

type CreateCall = Call<Extract<Write, { op: 'create' }>>

/**
 * Puts the tokens that a pod mounts on the host, before the pod.
 * @returns why the pod cannot be created yet
 */
export async function provideTokens(
  call: CreateCall,
  tokens: PodTokens,
  deps: ExecuteDeps,
): Promise<Attempt | undefined> {
  const of = tokenSecretFor(call, tokens)
  let issued
  try {
    issued = await requestTokens(deps.route.client, of, call.options)
  } catch (error) {
    deps.signal.throwIfAborted()
    if (isTokenRefusal(error)) return parked('TokenRefused', saidBy(error))
    const attempt = classify(error, call.write)
    // It is the tenant's API that does not answer; the host's, whose turn this was, may well.
    return attempt.result === 'retry' ? { ...attempt, isUp: true } : attempt
  }
  try {
    const isStored = await storeTokens(deps.host, of, issued, call.options)
    return isStored ? undefined : parked('ForeignObject', `secret "${tokens.secret}" is not Causeway's`)
  } catch (error) {
    deps.signal.throwIfAborted()
    const attempt = classify(error, call.write)
    return attempt.result === 'retry' ? attempt : withoutQuotes(attempt)
  }
}

/** Lets the tokens go with the pod. Where that fails, the keeper of tokens does it later. */
export async function handOverTokens(
  call: CreateCall,
  tokens: PodTokens,
  { host, made }: { host: ExecuteDeps['host']; made: KubeObject },
): Promise<void> {
  const { name = '', uid = '' } = made.metadata
  const target = { namespace: call.intent.target.namespace, name: tokens.secret }
  try {
    await host.patch(RESOURCES.secrets, target, ownedBy({ name, uid }), { ...call.options, type: 'merge' })
  } catch (error) {
    if (!(error instanceof KubeApiError)) call.options.signal.throwIfAborted()
  }
}

function tokenSecretFor({ intent }: CreateCall, tokens: PodTokens): TokenSecret {
  const { tenant, namespace, name } = intent.target
  return { tenant, tokens, pod: intent.source, copy: { namespace, name } }
}
