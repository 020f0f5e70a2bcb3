/**
 * Drops what was added first from a map or set that is to hold `limit` entries, once it holds a tenth more: finding the
 * oldest costs as much as has been dropped since the last time, so that one by one it costs most of all.
 */
export function forgetOldest<K>(
  entries: Pick<ReadonlyMap<K, unknown>, 'size' | 'keys'> & { delete(key: K): boolean },
  limit: number,
): void {
  if (entries.size <= limit * 1.1) return
  for (const oldest of entries.keys()) {
    if (entries.size <= limit) return
    entries.delete(oldest)
  }
}
