import { X509Certificate } from 'node:crypto'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createServerCredential } from './certificate.ts'

const credential = createServerCredential({ hosts: ['127.0.0.1', 'localhost'], now: Date.now(), days: 30 })

describe('createServerCredential', () => {
  it('signs the server certificate with the authority', () => {
    const authority = new X509Certificate(credential.authority)
    const server = new X509Certificate(credential.server.certificate)
    expect(authority.ca).toBe(true)
    expect(authority.verify(authority.publicKey)).toBe(true)
    expect(server.verify(authority.publicKey)).toBe(true)
    expect(server.checkIssued(authority)).toBe(true)
    expect(server.checkIP('127.0.0.1')).toBe('127.0.0.1')
    expect(server.checkHost('localhost')).toBe('localhost')
    expect(server.checkHost('example.com')).toBeUndefined()
    expect(new Date(server.validTo).getTime()).toBeGreaterThan(Date.now() + 29 * 86_400_000)
  })

  it.each(['127.0.0.1', 'localhost'])(
    'is accepted by a client that trusts the authority and asks for %s',
    async (host) => {
      const server = createServer(
        { key: credential.server.key, cert: credential.server.certificate },
        (_, response) => {
          response.end('ok')
        },
      )
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      try {
        const status = await new Promise((resolve, reject) => {
          const lookup = { family: 4 }
          request({ host, port, ca: credential.authority, ...lookup }, (answer) => {
            answer.resume()
            resolve(answer.statusCode)
          })
            .on('error', reject)
            .end()
        })
        expect(status).toBe(200)
      } finally {
        server.close()
        server.closeAllConnections()
      }
    },
  )
})
