import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { CausewayError } from '#libs/kernel'

/**
 * Chooses a port on loopback: the one asked for, which must be free; else the one used last, if it is free; else any.
 * @throws CausewayError `PortTaken` naming the flag and the port
 */
export async function choosePort(options: {
  flag: string
  asked?: number | undefined
  last?: number | undefined
}): Promise<number> {
  const { flag, asked, last } = options
  if (asked !== undefined && asked !== 0) {
    if ((await listenOn(asked)) !== undefined) return asked
    throw new CausewayError(
      `${flag}: port ${asked} on 127.0.0.1 is taken: choose another, or leave the flag out to get a free one`,
      { code: 'PortTaken' },
    )
  }
  const port = (last === undefined ? undefined : await listenOn(last)) ?? (await listenOn(0))
  if (port === undefined) throw new CausewayError('no free port on 127.0.0.1', { code: 'PortTaken' })
  return port
}

/** @returns the port that could be listened on, `undefined` when it is taken */
function listenOn(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => {
      const bound = (server.address() as AddressInfo).port
      server.close(() => resolve(bound))
    })
  })
}
