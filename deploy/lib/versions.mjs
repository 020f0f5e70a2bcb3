// @ts-check
/**
 * The first `1.2` or `1.2.3` in a text, as numbers.
 *
 * @param {string} text
 * @returns {[number, number, number] | undefined}
 */
export function parseVersion(text) {
  const match = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text)
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)]
}

/**
 * Negative, zero or positive as `a` is older than, equal to or newer than `b`. Suffixes such as `-1` or `-rc.1` do not
 * count.
 *
 * @param {string} a
 * @param {string} b
 */
export function compareVersions(a, b) {
  const left = parseVersion(a) ?? [0, 0, 0]
  const right = parseVersion(b) ?? [0, 0, 0]
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2]
}

/**
 * Whether the version in `text` is `floor` or newer; false when there is none in it.
 *
 * @param {string} text
 * @param {string} floor
 */
export function isAtLeast(text, floor) {
  return parseVersion(text) !== undefined && compareVersions(text, floor) >= 0
}
