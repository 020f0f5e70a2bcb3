/** The few ASN.1 types in DER that a certificate is made of (X.690). */

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

function element(tag: number, content: Uint8Array): Buffer {
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content])
  const size: number[] = []
  for (let rest = length; rest > 0; rest >>>= 8) size.unshift(rest & 0xff)
  return Buffer.concat([Buffer.of(tag, 0x80 | size.length, ...size), content])
}

export const sequence = (...parts: Uint8Array[]): Buffer => element(TAG.sequence, Buffer.concat(parts))

export const setOf = (...parts: Uint8Array[]): Buffer => element(TAG.set, Buffer.concat(parts))

export const boolean = (value: boolean): Buffer => element(TAG.boolean, Buffer.of(value ? 0xff : 0))

export const utf8String = (text: string): Buffer => element(TAG.utf8String, Buffer.from(text))

export const octetString = (bytes: Uint8Array): Buffer => element(TAG.octetString, bytes)

/** A bit string of whole bytes, or with `unusedBits` at the end. */
export const bitString = (bytes: Uint8Array, unusedBits = 0): Buffer =>
  element(TAG.bitString, Buffer.concat([Buffer.of(unusedBits), bytes]))

/** A non-negative integer, big-endian. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const trimmed = bytes.subarray(start)
  // A set top bit would make it negative.
  return element(TAG.integer, (trimmed[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), trimmed]) : trimmed)
}

export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const arc of rest) {
    const groups = [arc & 0x7f]
    for (let high = arc >>> 7; high > 0; high >>>= 7) groups.unshift((high & 0x7f) | 0x80)
    bytes.push(...groups)
  }
  return element(TAG.objectIdentifier, Buffer.from(bytes))
}

/** A point in time, to the second. */
export function time(date: Date): Buffer {
  const text = date.toISOString().replace(/[-:T]/g, '').slice(0, 14)
  return element(TAG.generalizedTime, Buffer.from(`${text}Z`))
}

/** `[number]` of the context, around other elements or, not constructed, around bytes. */
export const context = (number: number, content: Uint8Array, isConstructed = true): Buffer =>
  element((isConstructed ? 0xa0 : 0x80) | number, content)
