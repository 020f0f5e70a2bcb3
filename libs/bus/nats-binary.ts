import { findNatsServer as find, oldestNatsServer } from '../../deploy/lib/find-nats-server.mjs'
import { errorMessage } from '#libs/kernel'
import { BusError } from './errors.ts'

export { oldestNatsServer }

export type NatsBinary = { path: string; version: string }

/**
 * The nats-server on this machine: `$NATS_SERVER_BIN`, PATH, or what the set-up step fetched.
 * @throws BusError `NatsServerFailed` when there is none
 */
export function findNatsServer(env: Record<string, string | undefined> = process.env): NatsBinary {
  let found: NatsBinary | undefined
  try {
    found = find(env)
  } catch (error) {
    throw new BusError(errorMessage(error), { code: 'NatsServerFailed', cause: error })
  }
  if (found === undefined) {
    throw new BusError(
      `no nats-server ${oldestNatsServer} or newer found: run "node deploy/setup.mjs", or set NATS_SERVER_BIN to its path`,
      { code: 'NatsServerFailed' },
    )
  }
  return found
}
