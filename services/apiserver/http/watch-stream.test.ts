import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Response } from './exchange.ts'
import { WatchStream } from './watch-stream.ts'

const lines = (...texts: string[]): Buffer[] => texts.map((text) => Buffer.from(`${text}\n`))

/** A client that takes `room` bytes before it makes the server wait. */
function connect(options: { room?: number; maxQueued?: number } = {}): { client: PassThrough; stream: WatchStream } {
  const client = new PassThrough({ highWaterMark: options.room ?? 1024 })
  const response = client as unknown as Response
  return { client, stream: new WatchStream({ response, maxQueued: options.maxQueued ?? 100 }) }
}

const readAll = async (client: PassThrough): Promise<string[]> => {
  let text = ''
  for await (const chunk of client) text += String(chunk)
  return text.trim().split('\n')
}

describe('WatchStream', () => {
  it('sends the state before what happens meanwhile, in order', async () => {
    const { client, stream } = connect({ room: 4 })
    stream.start(lines('a', 'b', 'c', 'd'))
    for (const line of lines('e', 'f')) stream.push(line)
    stream.end()
    expect(await readAll(client)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  })

  it('makes lines of the state only when the client takes them', () => {
    const { stream } = connect({ room: 4 })
    let made = 0
    stream.start(
      (function* () {
        for (let index = 0; index < 1000; index++) {
          made += 1
          yield Buffer.from('line\n')
        }
      })(),
    )
    expect(made).toBeLessThan(10)
  })

  it('cuts off a client that falls too far behind', () => {
    const { client, stream } = connect({ room: 4, maxQueued: 10 })
    for (let index = 0; index < 20; index++) stream.push(Buffer.from('line\n'))
    expect(client.destroyed).toBe(true)
  })

  it('keeps nothing for a client that is gone', async () => {
    const { client, stream } = connect({ room: 4, maxQueued: 10 })
    client.destroy()
    await new Promise((resolve) => client.on('close', resolve))
    for (let index = 0; index < 20; index++) stream.push(Buffer.from('line\n'))
    stream.end()
    expect(client.writableLength).toBe(0)
  })
})
