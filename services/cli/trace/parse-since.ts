import { ConfigError } from '#libs/kernel'

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * The moment that `10m`, `2h`, `30s`, `1d` ago or a time (`2026-11-30T20:15:00Z`) means, ms since the epoch.
 * @throws ConfigError naming the flag
 */
export function parseSince(text: string, now: number, flag = '--since'): number {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? []
  if (count !== undefined) return now - Number(count) * (UNITS[unit] ?? 0)
  const at = Date.parse(text)
  if (/^\d{4}-/.test(text) && !Number.isNaN(at)) return at
  throw new ConfigError([`${flag} ${text}: write how long ago, as in 30s, 10m, 2h, 1d, or a time`])
}
