import { errorMessage } from '#libs/kernel'
import { createProgram } from './program.ts'

const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    // The first asks for an orderly stop; who asks again does not want to wait for it.
    if (stop.signal.aborted) process.exit(130)
    stop.abort(new Error(`received ${name}`))
  })
}

try {
  process.exitCode = await createProgram(stop.signal).run(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`causeway: ${errorMessage(error)}\n`)
  process.exitCode = 1
}
