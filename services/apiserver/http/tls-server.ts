import { createSecureServer } from 'node:http2'
import type { Http2SecureServer, Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { ConfigError } from '#libs/kernel'

export type TlsServerOptions = {
  host: string
  /** 0: any free one. */
  port: number
  certificate: string
  key: string
  handle: (request: Http2ServerRequest, response: Http2ServerResponse) => void
}

export type TlsServer = {
  readonly port: number
  /** Stops listening, lets answers under way finish for a moment, then cuts all connections. */
  close(): Promise<void>
}

/** Answers under way at the stop get this long. */
const DRAIN_MS = 1000

/** Listens for HTTP/2 and HTTP/1.1 on one port. @throws ConfigError when the port is taken */
export async function listenTls(options: TlsServerOptions): Promise<TlsServer> {
  const { host, port, certificate, key, handle } = options
  const server = createSecureServer({
    cert: certificate,
    key,
    allowHTTP1: true,
    settings: { maxConcurrentStreams: 2000 },
    // One client may hold hundreds of watches on a connection; the default of 10 MB would refuse some of them.
    maxSessionMemory: 256,
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    socket.setNoDelay(true)
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  // Broken handshakes and connections are the client's business.
  server.on('sessionError', () => undefined)
  server.on('tlsClientError', () => undefined)
  server.on('request', handle)
  await listen(server, host, port)
  return {
    port: (server.address() as AddressInfo).port,
    close: () => close(server, sockets),
  }
}

function listen(server: Http2SecureServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const problem =
        error.code === 'EADDRINUSE'
          ? `port ${port} on ${host} is taken by another program: stop it or choose another port`
          : `cannot listen on ${host}:${port}: ${error.message}`
      reject(new ConfigError([problem], { cause: error }))
    })
    server.listen(port, host, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
}

async function close(server: Http2SecureServer, sockets: ReadonlySet<Socket>): Promise<void> {
  const isClosed = new Promise<void>((resolve) => server.close(() => resolve()))
  const timer = setTimeout(() => {
    for (const socket of sockets) socket.destroy()
  }, DRAIN_MS)
  // Idle connections would hold the server open until they time out.
  for (const socket of sockets) if (socket.readableLength === 0 && socket.writableLength === 0) socket.end()
  await isClosed
  clearTimeout(timer)
}
