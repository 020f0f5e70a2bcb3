import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { staticClusterConfig } from '../auth/cluster-config.ts'
import type { ClusterConfig } from '../auth/cluster-config.ts'
import { listReply, streamReply } from './replies.ts'
import type { Reply } from './replies.ts'

/** A request the server took, with its body read. */
export type TakenRequest = {
  kind: RequestKind
  method: string
  path: string
  query: Record<string, string>
  headers: IncomingMessage['headers']
  body: string
}

export type RequestKind = 'list' | 'watch' | 'other'

/**
 * A server that speaks just enough of the protocol over real sockets to fail in ways a real one cannot be brought to.
 * Each request takes the next reply of its kind. Without one, lists are empty, watches are silent, others answer 404.
 */
export type FakeApiServer = {
  url: string
  config: ClusterConfig
  requests: TakenRequest[]
  script(kind: RequestKind, ...replies: Reply[]): void
  /** Connections taken so far. */
  connections(): number
  close(): Promise<void>
}

/** @param basePath path of the cluster below the server, such as `/clusters/team-a` */
export async function startFakeApiServer(basePath = ''): Promise<FakeApiServer> {
  const scripts: Record<RequestKind, Reply[]> = { list: [], watch: [], other: [] }
  const requests: TakenRequest[] = []
  const sockets = new Set<Socket>()
  let connections = 0

  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const url = new URL(request.url ?? '/', 'http://fake')
    const path = url.pathname.startsWith(basePath) ? url.pathname.slice(basePath.length) : `outside ${basePath}`
    const query = Object.fromEntries(url.searchParams)
    const method = request.method ?? ''
    const kind = kindOf(method, query)
    requests.push({ kind, method, path, query, headers: request.headers, body })
    const reply = scripts[kind].shift() ?? defaultReply(kind)
    reply(response, request)
  }

  const server = createServer((request, response) => {
    // The client breaks requests off on purpose; there is nobody left to answer.
    take(request, response).catch(() => response.destroy())
  })
  server.on('connection', (socket) => {
    connections++
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${basePath}`
  return {
    url,
    config: staticClusterConfig({ server: url, token: 'secret-token' }),
    requests,
    script: (kind, ...replies) => {
      scripts[kind].push(...replies)
    },
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function kindOf(method: string, query: Record<string, string>): RequestKind {
  if (query['watch'] === 'true') return 'watch'
  return method === 'GET' && query['limit'] !== undefined ? 'list' : 'other'
}

function defaultReply(kind: RequestKind): Reply {
  if (kind === 'list') return listReply([], { resourceVersion: '1' })
  if (kind === 'watch') return streamReply([], 'hold')
  return (response) => {
    response.writeHead(404)
    response.end('404 page not found')
  }
}
