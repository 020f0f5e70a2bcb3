/** One field as it stands in a message: the number, and a varint, eight or four bytes, or bytes. */
export type WireField = { number: number; value: bigint | Uint8Array }

/** The bytes are no protobuf message. */
export class WireError extends Error {}

/** Reads the fields of a message in order (https://protobuf.dev/programming-guides/encoding/). @throws WireError */
export function* readFields(bytes: Uint8Array): Generator<WireField> {
  const reader = new Reader(bytes)
  while (!reader.isAtEnd) {
    const tag = Number(reader.varint())
    const number = tag >>> 3
    switch (tag & 7) {
      case 0:
        yield { number, value: reader.varint() }
        break
      case 1:
        yield { number, value: reader.take(8) }
        break
      case 2:
        yield { number, value: reader.take(Number(reader.varint())) }
        break
      case 5:
        yield { number, value: reader.take(4) }
        break
      default:
        throw new WireError(`proto: illegal wireType ${tag & 7}`)
    }
  }
}

class Reader {
  readonly #bytes: Uint8Array
  #position = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#bytes.length
  }

  varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#position++]
      if (byte === undefined) throw new WireError('unexpected EOF')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new WireError('proto: integer overflow')
  }

  take(length: number): Uint8Array {
    const end = this.#position + length
    if (end > this.#bytes.length) throw new WireError('unexpected EOF')
    const part = this.#bytes.subarray(this.#position, end)
    this.#position = end
    return part
  }
}
