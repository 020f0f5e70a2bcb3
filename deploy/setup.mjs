// @ts-check
/**
 * What `npm start` and `npm test` need before they can run TypeScript: the packages, a Node that is new enough (it is
 * one of the packages) and nats-server. Runs on the Node that is there, without any package. Says nothing when all is
 * in place.
 */
import { getNatsServer } from './lib/get-nats-server.mjs'
import { ensureNodeModules } from './lib/node-modules.mjs'
import { SetupError } from './lib/system.mjs'

/** @param {string} line */
const log = (line) => void process.stderr.write(`setup: ${line}\n`)

try {
  await ensureNodeModules(log)
  await getNatsServer(log)
} catch (error) {
  log(error instanceof SetupError ? error.message : String(/** @type {Error} */ (error).stack))
  process.exitCode = 1
}
