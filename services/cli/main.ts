import { errorMessage } from '#libs/kernel'
import { createProgram } from './program.ts'

const SAME_REQUEST_MS = 500
const stop = new AbortController()
let askedAt = 0
// SIGHUP: the terminal is closed. Without an order to stop, NATS would be left behind.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    // The first asks for an orderly stop; who asks again does not want to wait for it. One Ctrl-C comes twice where
    // npm runs this: from the terminal, and passed on by npm.
    if (stop.signal.aborted && performance.now() - askedAt > SAME_REQUEST_MS) process.exit(130)
    if (stop.signal.aborted) return
    askedAt = performance.now()
    stop.abort(new Error(`received ${name}`))
  })
}
// Nobody reads any more (`| head`, or the terminal is gone): what is left is to stop.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error) => {
    process.exitCode = 1
    if (!stop.signal.aborted) stop.abort(error)
  })
}

try {
  process.exitCode = await createProgram(stop.signal).run(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`causeway: ${errorMessage(error)}\n`)
  process.exitCode = 1
}
// What could not be ended in order has connections open, which must not keep the process.
setTimeout(() => process.exit(), 3_000).unref()
