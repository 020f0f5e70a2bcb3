import { closeSync, existsSync, openSync, readSync, statSync, statfsSync } from 'node:fs'

/** With less room than this, errors are no surprise, and starting the server again would change nothing. */
const ROOM_BYTES = 32 * 1024 * 1024
/** Said once: the stream is written to no more, or all streams are. */
const GIVEN_UP = /critical write error|JetStream out of (space|resources), will be DISABLED/i

/**
 * Tells a nats-server that has given up its store, as it does for good when the disk is full: also when there is room
 * again, it writes nothing more until it is started again.
 * @returns whether it has given up, and there was room at this look and at the one before
 */
export function createStuckStoreCheck(options: { logFile: string; storeDir: string }): () => boolean {
  let readUpTo = sizeOf(options.logFile)
  let hasGivenUp = false
  let hadRoom = false
  return () => {
    const size = sizeOf(options.logFile)
    // The log begins anew when it has grown large.
    const news = textFrom(options.logFile, size < readUpTo ? 0 : readUpTo)
    readUpTo = size
    hasGivenUp ||= GIVEN_UP.test(news)
    const hasRoom = hasGivenUp && freeBytes(options.storeDir) > ROOM_BYTES
    const isStuck = hasRoom && hadRoom
    hadRoom = hasRoom
    return isStuck
  }
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0
}

function freeBytes(folder: string): number {
  if (!existsSync(folder)) return 0
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

const LOOK_BYTES = 256 * 1024

/** The text of a file from a position on; of much, the end. */
function textFrom(path: string, from: number): string {
  if (!existsSync(path)) return ''
  const file = openSync(path, 'r')
  try {
    const start = Math.max(from, sizeOf(path) - LOOK_BYTES)
    const buffer = Buffer.alloc(LOOK_BYTES)
    return buffer.toString('utf8', 0, readSync(file, buffer, 0, LOOK_BYTES, start))
  } finally {
    closeSync(file)
  }
}
