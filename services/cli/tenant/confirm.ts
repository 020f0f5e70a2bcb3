import { CausewayError, ConfigError, systemClock } from '#libs/kernel'
import { CONFIRMATION_PREFIX, type DeletionHold, HOLD_PREFIX, openDeletionHolds } from '#libs/runtime'
import { type CommandOptions, withRunning } from './running.ts'

const TIMEOUT_MS = 30_000
const POLL_MS = 200

/**
 * Confirms that a tenant's objects which vanished at once in great number are gone: the deletions that were stopped for
 * that go on.
 * @throws ConfigError when there is no such tenant, CausewayError `NotAnswered` when nobody acts on it
 */
export async function confirmDeletions(options: CommandOptions & { name: string }): Promise<number> {
  const { name, terminal, json, signal } = options
  return withRunning(options, async ({ info, bus, registry }) => {
    if ((await registry.get(name)) === undefined)
      throw new ConfigError([`no tenant "${name}": "causeway tenant list" shows those there are`])
    const holds = await openDeletionHolds(bus, info.replicas)
    const held = (await holds.get(HOLD_PREFIX + name))?.value as DeletionHold | undefined
    if (held === undefined) {
      terminal.print(json ? JSON.stringify({ name, confirmed: false }) : `no deletions of tenant ${name} are stopped`)
      return 0
    }
    await holds.put(CONFIRMATION_PREFIX + name, { since: held.since })
    const deadline = systemClock.now() + TIMEOUT_MS
    while ((await holds.get(CONFIRMATION_PREFIX + name)) !== undefined) {
      if (systemClock.now() > deadline) {
        throw new CausewayError(
          `no translator has taken it in within ${TIMEOUT_MS / 1_000} s: it counts when one does`,
          {
            code: 'NotAnswered',
          },
        )
      }
      await systemClock.sleep(POLL_MS, signal)
    }
    const { waiting } = held
    terminal.print(
      json ? JSON.stringify({ name, confirmed: true, waiting }) : `tenant ${name}: the stopped deletions go on`,
    )
    return 0
  })
}

/** What stopped deletions are to whoever looks at the tenant's state. */
export function holdMessage(name: string, { side, resource, waiting, contradiction }: DeletionHold): string {
  const what = resource === '' ? 'objects' : resource
  const where = side === 'virtual' ? 'its cluster' : 'the host'
  const why = contradiction === undefined ? 'they are being read live' : contradiction
  return `${waiting} deletions are stopped: very many ${what} vanished from ${where} at once (${why}); if they are gone for good: causeway tenant confirm ${name}`
}
