/** The known word that was most likely meant, if one is close enough. */
export function closest(word: string, known: Iterable<string>): string | undefined {
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (best === undefined || distance < best.distance) best = { candidate, distance }
  }
  if (best === undefined) return undefined
  const tolerated = Math.max(2, Math.floor(Math.max(word.length, best.candidate.length) / 3))
  return best.distance <= tolerated ? best.candidate : undefined
}

/** Levenshtein distance, in two rows. */
function editDistance(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = (before[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (before[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    before = current
  }
  return before[b.length] ?? 0
}
