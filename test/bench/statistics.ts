/** A distribution's points, in the unit of what was measured. */
export type Percentiles = { count: number; p50: number; p90: number; p99: number; max: number }

/** Percentiles by the nearest rank; all zero for no values. */
export function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
  return { count: sorted.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) }
}

/** The middle value, or the mean of the two in the middle; 0 for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)] ?? 0
  const lower = sorted[Math.ceil(middle) - 1] ?? 0
  return (upper + lower) / 2
}

/** The median over runs of each point: one slow run does not move it. */
export function medianPercentiles(runs: readonly Percentiles[]): Percentiles {
  const over = (pick: (run: Percentiles) => number): number => median(runs.map(pick))
  return {
    count: runs.reduce((sum, run) => sum + run.count, 0),
    p50: over((run) => run.p50),
    p90: over((run) => run.p90),
    p99: over((run) => run.p99),
    max: over((run) => run.max),
  }
}

/** Slope of the line through points that is nearest to them by least squares; 0 for less than two. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length
  const [meanX, meanY] = [mean(([x]) => x), mean(([, y]) => y)]
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
  if (points.length < 2 || spread === 0) return 0
  return points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread
}
