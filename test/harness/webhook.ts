import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createServerCredential } from '../../services/apiserver/tls/certificate.ts'

/** A webhook of the host that refuses ConfigMaps whose names begin so. */
export async function startWebhook(prefix: string): Promise<{ configuration: object; stop(): Promise<void> }> {
  const credential = createServerCredential({ hosts: ['127.0.0.1'], now: Date.now(), days: 1 })
  const { certificate: cert, key } = credential.server
  const server = createHttpsServer({ cert, key }, (request, response) => {
    let text = ''
    request.on('data', (part) => (text += String(part)))
    request.on('end', () => {
      const { uid, name } = (JSON.parse(text) as { request: { uid: string; name: string } }).request
      const refused = { allowed: false, status: { code: 403, message: 'not on a Friday', reason: 'Forbidden' } }
      response.end(JSON.stringify({ response: { uid, ...(name.startsWith(prefix) ? refused : { allowed: true }) } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/validate`
  const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }
  return {
    configuration: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'guard' },
      webhooks: [
        {
          name: 'guard.example.com',
          clientConfig: { url, caBundle: Buffer.from(credential.authority).toString('base64') },
          rules: [rule],
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
        },
      ],
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
