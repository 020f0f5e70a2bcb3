/* Loaded into every process of Causeway before its own code: gives it the clock that the harness sets, as on a machine
 * whose clock is set. `Date` follows at once. `performance` knows when it was begun and counts from there, so what goes
 * by it is wrong for as long as the process lives. Timers run as before. */
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const folder = process.env['FAULTS_CLOCK_FOLDER']
const role = basename(dirname(process.argv[1] ?? ''))
const LOOK_EVERY_MS = 200

if (folder !== undefined) {
  const file = join(folder, role)
  let offset = 0
  const look = (): void => {
    try {
      offset = Number(readFileSync(file, 'utf8')) || 0
    } catch {
      offset = 0
    }
  }
  look()
  setInterval(look, LOOK_EVERY_MS).unref()
  const timeOrigin = performance.timeOrigin + offset
  const RealDate = Date
  const realNow = Date.now.bind(Date)
  Object.defineProperty(performance, 'timeOrigin', { get: () => timeOrigin })
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args: [], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [realNow() + offset] : args, newTarget) as Date,
    get: (target, property, receiver) =>
      property === 'now' ? () => realNow() + offset : (Reflect.get(target, property, receiver) as unknown),
  })
}
