import { KubeProtocolError } from '../errors.ts'

const NEWLINE = 0x0a

/** Cuts a stream of bytes into lines. */
export type LineSplitter = {
  /**
   * The lines that this chunk completes, without their newlines; copies, so that no chunk is kept alive by a line. To be
   * read to the end. Lines before one that is too long still come.
   */
  push(chunk: Buffer): Generator<Buffer, void, void>
  /** Bytes of the line that is not complete yet. */
  pendingBytes(): number
}

/** @throws KubeProtocolError (`TooLarge`), from `push`, when a line is longer than `maxBytes` */
export function createLineSplitter(maxBytes: number): LineSplitter {
  let parts: Buffer[] = []
  let pending = 0

  const add = (part: Buffer): void => {
    pending += part.length
    if (pending > maxBytes) {
      throw new KubeProtocolError(`line of a watch is longer than the limit of ${maxBytes} bytes`, {
        reason: 'TooLarge',
      })
    }
    parts.push(part)
  }

  return {
    pendingBytes: () => pending,
    push: function* (chunk) {
      let from = 0
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, end))
        const line = Buffer.concat(parts, pending)
        parts = []
        pending = 0
        from = end + 1
        if (line.length > 0) yield line
      }
      if (from < chunk.length) add(Buffer.from(chunk.subarray(from)))
    },
  }
}
