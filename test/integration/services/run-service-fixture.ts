import { runService } from '#libs/runtime'
import { createLogger } from '#libs/telemetry'

/** A service that behaves as its argument says; run by run-service.integration.test.ts. */
const mode = process.argv[2]
const say = (word: string): void => void process.stdout.write(`${word}\n`)
// What a connection does to a process: it keeps it alive.
setInterval(() => undefined, 1_000)

await runService({
  name: 'fixture',
  logger: createLogger({ service: 'fixture', level: 'silent' }),
  start: () => {
    if (mode === 'fails-at-start') return Promise.reject(new Error('no start'))
    say('started')
    const done = mode === 'role-fails' ? Promise.reject(new Error('role broke')) : new Promise<void>(() => undefined)
    done.catch(() => undefined)
    const role = { name: 'fixture', notReady: () => [], done, close: () => Promise.resolve() }
    const close = (): Promise<void> => {
      say('closed')
      return mode === 'never-closes' ? new Promise(() => undefined) : Promise.resolve()
    }
    return Promise.resolve({ roles: [role], close })
  },
})
