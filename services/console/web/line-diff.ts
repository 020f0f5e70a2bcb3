/** One row of two texts side by side: the lines that stand there, and whether they are the same. */
export type DiffRow = { left?: string; right?: string; isSame: boolean }

/** Beyond this many pairs of lines, lines are compared in place: nobody reads a diff of such a size. */
const PAIR_LIMIT = 4_000_000

/** Lays two texts side by side, line by line, so that as many lines as possible stand next to their like. */
export function lineDiff(left: string, right: string): DiffRow[] {
  const a = linesOf(left)
  const b = linesOf(right)
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail])
    tail += 1
  const same = (line: string): DiffRow => ({ left: line, right: line, isSame: true })
  return [
    ...a.slice(0, head).map(same),
    ...paired(middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail))),
    ...a.slice(a.length - tail).map(same),
  ]
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

/** By the longest common subsequence. */
function middle(a: readonly string[], b: readonly string[]): DiffRow[] {
  const width = b.length + 1
  if ((a.length + 1) * width > PAIR_LIMIT) {
    return [...a.map((line) => ({ left: line, isSame: false })), ...b.map((line) => ({ right: line, isSame: false }))]
  }
  const length = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number): number => length[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      length[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const rows: DiffRow[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]]
    if (left !== undefined && left === right) {
      rows.push({ left, right, isSame: true })
      i += 1
      j += 1
    } else if (right === undefined || (left !== undefined && at(i + 1, j) >= at(i, j + 1))) {
      rows.push({ ...(left === undefined ? {} : { left }), isSame: false })
      i += 1
    } else {
      rows.push({ right, isSame: false })
      j += 1
    }
  }
  return rows
}

/** What is gone and what came in its place stand in the same rows. */
function paired(rows: readonly DiffRow[]): DiffRow[] {
  const result: DiffRow[] = []
  let lefts: string[] = []
  let rights: string[] = []
  const flush = (): void => {
    for (let index = 0; index < Math.max(lefts.length, rights.length); index += 1) {
      const [left, right] = [lefts[index], rights[index]]
      result.push({ ...(left === undefined ? {} : { left }), ...(right === undefined ? {} : { right }), isSame: false })
    }
    lefts = []
    rights = []
  }
  for (const row of rows) {
    if (row.isSame) {
      flush()
      result.push(row)
      continue
    }
    if (row.left !== undefined) lefts.push(row.left)
    if (row.right !== undefined) rights.push(row.right)
  }
  flush()
  return result
}

/**
 * What is left of rows when long stretches without a difference are folded.
 * @param around how many equal lines stay next to each difference
 */
export function folded(rows: readonly DiffRow[], around: number): (DiffRow | { skipped: number })[] {
  const isNear = rows.map(() => false)
  for (const [index, row] of rows.entries()) {
    if (row.isSame) continue
    isNear.fill(true, Math.max(0, index - around), Math.min(rows.length, index + around + 1))
  }
  const result: (DiffRow | { skipped: number })[] = []
  let skipped = 0
  for (const [index, row] of rows.entries()) {
    if (isNear[index] === true) {
      if (skipped > 0) result.push({ skipped })
      skipped = 0
      result.push(row)
    } else skipped += 1
  }
  if (skipped > 0) result.push({ skipped })
  return result
}
