import { request as httpsRequest } from 'node:https'
import { errorMessage } from '#libs/kernel'
import type { Webhook } from './webhook.ts'

/** An answer is read up to this size. */
const ANSWER_LIMIT_BYTES = 3 * 1024 * 1024
const DEFAULT_TIMEOUT_SECONDS = 10

export type AdmissionResponse = {
  uid?: string
  allowed?: boolean
  warnings?: string[]
  status?: { code?: number; message?: string; reason?: string; details?: object; status?: string }
}

/** A webhook could not be asked; the message is what follows `failed calling webhook "x": `. */
export class WebhookCallError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WebhookCallError'
  }
}

/**
 * Asks a webhook about a write.
 * @param request the AdmissionReview's request, with its uid
 * @throws WebhookCallError
 */
export async function callWebhook(webhook: Webhook, request: Record<string, unknown>): Promise<AdmissionResponse> {
  const seconds = webhook.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS
  const url = urlOf(webhook, seconds)
  const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request }
  let text: string
  try {
    text = await post(url, { body: JSON.stringify(review), caBundle: webhook.clientConfig.caBundle, seconds })
  } catch (error) {
    throw new WebhookCallError(`failed to call webhook: Post ${JSON.stringify(url.href)}: ${causeOf(error)}`)
  }
  const response = readResponse(text)
  if (response === undefined || response.uid !== request['uid']) {
    throw new WebhookCallError(
      `received invalid webhook response: expected response.uid=${JSON.stringify(request['uid'])}`,
    )
  }
  return response
}

/** Services of the cluster have no network behind them here. */
function urlOf({ clientConfig }: Webhook, seconds: number): URL {
  const { url, service } = clientConfig
  if (url === undefined) {
    const { namespace = '', name = '', path = '', port = 443 } = service ?? {}
    const address = `https://${name}.${namespace}.svc:${port}${path}?timeout=${seconds}s`
    throw new WebhookCallError(
      `failed to call webhook: Post ${JSON.stringify(address)}: no endpoints available for service ${JSON.stringify(name)}`,
    )
  }
  const parsed = new URL(url)
  parsed.searchParams.set('timeout', `${seconds}s`)
  return parsed
}

const causeOf = (error: unknown): string =>
  error instanceof Error && error.name === 'TimeoutError' ? 'context deadline exceeded' : errorMessage(error)

function readResponse(text: string): AdmissionResponse | undefined {
  try {
    return (JSON.parse(text) as { response?: AdmissionResponse }).response
  } catch (error) {
    throw new WebhookCallError(`failed to call webhook: ${errorMessage(error)}`)
  }
}

function post(url: URL, call: { body: string; caBundle: string | undefined; seconds: number }): Promise<string> {
  const { body, caBundle, seconds } = call
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      url,
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'content-length': Buffer.byteLength(body),
        },
        signal: AbortSignal.timeout(seconds * 1000),
        ...(caBundle === undefined ? {} : { ca: Buffer.from(caBundle, 'base64').toString() }),
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => {
          text += part
          if (text.length > ANSWER_LIMIT_BYTES) request.destroy(new Error('the answer is too large'))
        })
        response.on('error', reject)
        response.on('end', () => {
          if (response.statusCode === 200) resolve(text)
          else reject(new Error(`the server answered ${response.statusCode ?? 0}`))
        })
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}
