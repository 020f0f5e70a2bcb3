import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net'
import { join } from 'node:path'

/**
 * Stands between Causeway and a cluster, until it is stopped.
 * @returns with a kubeconfig, in the folder, that leads through it
 */
export async function startProxy(
  kubeconfig: string,
  folder: string,
): Promise<{ kubeconfig: string; stop(): Promise<void> }> {
  const text = readFileSync(kubeconfig, 'utf8')
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(text)?.[1])
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    const upstream = connect(port, '127.0.0.1')
    for (const each of [socket, upstream]) {
      sockets.add(each)
      each.on('error', () => undefined)
      each.on('close', () => sockets.delete(each))
    }
    socket.pipe(upstream).pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const own = join(folder, 'proxied.yaml')
  writeFileSync(own, text.replaceAll(/127\.0\.0\.1:\d+/g, `127.0.0.1:${(server.address() as AddressInfo).port}`))
  return {
    kubeconfig: own,
    stop: async () => {
      if (!server.listening) return
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
