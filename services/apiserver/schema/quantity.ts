const PATTERN = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE][+-]?\d+)|(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E)?)$/

const DECIMAL_EXPONENTS: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const BINARY_EXPONENTS: Record<string, number> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 }
const NANO = 10n ** 9n

/** A resource amount in billionths, which is the finest step the API knows, and the notation it was given in. */
export type Quantity = { nanos: bigint; notation: 'decimal' | 'binary' | 'exponent' }

/** Reads a quantity such as `0.5`, `100m`, `1Gi` or `1e3`; `undefined` when it is none. */
export function parseQuantity(text: string | number): Quantity | undefined {
  const match = PATTERN.exec(String(text))
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', exponent, suffix = ''] = match
  if (whole === '' && fraction === '') return undefined
  const digits = BigInt(`${whole}${fraction}`)
  const binary = BINARY_EXPONENTS[suffix]
  let numerator = digits * NANO
  let denominator = 10n ** BigInt(fraction.length)
  if (binary !== undefined) numerator *= 2n ** BigInt(binary)
  else {
    const power = exponent === undefined ? (DECIMAL_EXPONENTS[suffix] ?? 0) : Number(exponent.slice(1))
    if (Math.abs(power) > 40) return undefined
    if (power >= 0) numerator *= 10n ** BigInt(power)
    else denominator *= 10n ** BigInt(-power)
  }
  const rounded = (numerator + denominator - 1n) / denominator
  const notation = binary !== undefined ? 'binary' : exponent !== undefined ? 'exponent' : 'decimal'
  return { nanos: sign === '-' ? -rounded : rounded, notation }
}

const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

function formatDecimal(nanos: bigint, exponentForm: boolean): string {
  let value = nanos
  let step = 0
  while (step < DECIMAL_SUFFIXES.length - 1 && value % 1000n === 0n) {
    value /= 1000n
    step += 1
  }
  const power = step * 3 - 9
  if (!exponentForm) return `${value}${DECIMAL_SUFFIXES[step] ?? ''}`
  return power === 0 ? `${value}` : `${value}e${power}`
}

/** Writes a quantity in canonical form: the largest suffix that leaves a whole number, in the notation it came in. */
function formatQuantity(quantity: Quantity): string {
  const { nanos, notation } = quantity
  if (nanos === 0n) return '0'
  if (notation !== 'binary') return formatDecimal(nanos, notation === 'exponent')
  // As upstream: amounts that are below 1024 or no whole number are written in decimal.
  const magnitude = nanos < 0n ? -nanos : nanos
  if (nanos % NANO !== 0n || magnitude < 1024n * NANO) return formatDecimal(nanos, false)
  let value = nanos / NANO
  let step = 0
  while (step < BINARY_SUFFIXES.length - 1 && value % 1024n === 0n) {
    value /= 1024n
    step += 1
  }
  return `${value}${BINARY_SUFFIXES[step] ?? ''}`
}

/** The canonical form of a quantity; text that is none is returned as it is. */
export function canonicalQuantity(text: string | number): string {
  const quantity = parseQuantity(text)
  return quantity === undefined ? String(text) : formatQuantity(quantity)
}

/** Billionths as a quantity, in the notation of another one; memory-like amounts (`1Gi`) are written in binary. */
export function quantityText(nanos: bigint, like: string | number): string {
  return formatQuantity({ nanos, notation: parseQuantity(like)?.notation ?? 'decimal' })
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`; unreadable ones count as zero. */
export function compareQuantities(a: string | number, b: string | number): number {
  const difference = (parseQuantity(a)?.nanos ?? 0n) - (parseQuantity(b)?.nanos ?? 0n)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}
