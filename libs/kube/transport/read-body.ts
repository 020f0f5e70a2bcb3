import type { Readable } from 'node:stream'
import { KubeProtocolError } from '../errors.ts'

/** Reads a body to its end. @throws KubeProtocolError (`TooLarge`) as soon as it is longer than `maxBytes` */
export function readBody(body: Readable, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    body.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maxBytes) chunks.push(chunk)
      else
        body.destroy(
          new KubeProtocolError(`answer is larger than the limit of ${maxBytes} bytes`, { reason: 'TooLarge' }),
        )
    })
    body.on('end', () => {
      const [only] = chunks
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks))
    })
    body.on('error', reject)
    body.on('close', () => {
      if (!body.readableEnded) reject(new Error('connection closed within the answer'))
    })
  })
}
