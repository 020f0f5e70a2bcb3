import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CausewayError } from '#libs/kernel'
import type { Role } from './role.ts'

/** A served health endpoint. */
export type HealthServer = { url: string; close(): Promise<void> }

/**
 * Serves `/livez` (the process answers), `/readyz` (every role is ready; the body says what is missing) and `/metrics`.
 * @throws CausewayError `PortTaken` naming the address
 */
export async function serveHealth(options: {
  host: string
  port: number
  roles: () => readonly Pick<Role, 'name' | 'notReady'>[]
  metrics: () => Promise<string>
}): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const path: string = (request.url ?? '').replace(/\?.*/, '')
    const respond = (status: number, type: string, body: string): void => {
      response.writeHead(status, { 'content-type': type }).end(body)
    }
    switch (path) {
      case '/livez':
        respond(200, 'text/plain', 'ok\n')
        return
      case '/readyz': {
        const missing = options.roles().flatMap((role) => role.notReady().map((why) => `${role.name}: ${why}`))
        respond(
          missing.length === 0 ? 200 : 503,
          'text/plain',
          missing.length === 0 ? 'ok\n' : `${missing.join('\n')}\n`,
        )
        return
      }
      case '/metrics':
        options.metrics().then(
          (text) => respond(200, 'text/plain; version=0.0.4', text),
          (error: unknown) => respond(500, 'text/plain', `${String(error)}\n`),
        )
        return
      default:
        respond(404, 'text/plain', 'try /livez, /readyz or /metrics\n')
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new CausewayError(
              `health port ${options.host}:${options.port} is taken: set CAUSEWAY_HTTP_PORT to a free port, or to 0`,
              { code: 'PortTaken', cause: error },
            )
          : error,
      )
    })
    server.listen(options.port, options.host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${options.host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
