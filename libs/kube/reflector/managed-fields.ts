const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const MARK = Buffer.from('"managedFields":[')

/**
 * A watch line without `object.metadata.managedFields`, which is about half of it and which hardly anybody downstream reads.
 * Works on the bytes, as parsing and serialising again would cost more and could change numbers. A line that is laid
 * out in another way than API servers do is returned as it is.
 */
export function withoutManagedFields(line: Buffer): Buffer {
  const start = line.indexOf(MARK)
  if (start === -1 || !isInMetadata(line, start)) return line
  const end = endOfValue(line, start + MARK.length - 1)
  if (end === -1) return line
  // It is one of several fields of the metadata: one of the commas beside it goes, too.
  if (line[start - 1] === COMMA) return Buffer.concat([line.subarray(0, start - 1), line.subarray(end)])
  if (line[end] === COMMA) return Buffer.concat([line.subarray(0, start), line.subarray(end + 1)])
  return line
}

/** Whether the field at `position` belongs to `object.metadata`, and not to a template or to somebody's data. */
function isInMetadata(line: Buffer, position: number): boolean {
  const path: string[] = []
  let depth = 0
  let text = { from: 0, to: 0 }
  for (let at = 0; at < position; at++) {
    const byte = line[at]
    if (byte === QUOTE) {
      const end = endOfString(line, at)
      text = { from: at + 1, to: end }
      at = end
    } else if (byte === COLON) {
      if (depth <= 2) path[depth] = line.toString('latin1', text.from, text.to)
    } else if (isOpening(byte)) {
      depth++
      path.length = depth
    } else if (isClosing(byte)) {
      depth--
    }
  }
  return depth === 3 && path[1] === 'object' && path[2] === 'metadata'
}

/** Index after the array or object that begins at `from`; -1 when it does not end. */
function endOfValue(line: Buffer, from: number): number {
  let depth = 0
  for (let at = from; at < line.length; at++) {
    const byte = line[at]
    if (byte === QUOTE) at = endOfString(line, at)
    else if (isOpening(byte)) depth++
    else if (isClosing(byte) && --depth === 0) return at + 1
  }
  return -1
}

/** Index of the quote that ends the string that begins at `from`. */
function endOfString(line: Buffer, from: number): number {
  let at = from + 1
  while (at < line.length && line[at] !== QUOTE) at += line[at] === BACKSLASH ? 2 : 1
  return at
}

const isOpening = (byte: number | undefined): boolean => byte === 0x7b || byte === 0x5b
const isClosing = (byte: number | undefined): boolean => byte === 0x7d || byte === 0x5d
