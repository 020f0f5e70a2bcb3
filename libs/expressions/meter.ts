import { LIMITS } from './limits.ts'

/** An expression that costs more than it may. */
class CostError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CostError'
  }
}

/** What one computation may still do. Set before each: a computation runs to its end before the next begins. */
export type Meter = { left: number }

type Evaluate = (...args: unknown[]) => unknown
type Part = { evaluate: Evaluate; op: string; args: unknown; meta?: unknown }

/**
 * Has every part of a checked expression count what it costs while it is computed: the library itself bounds how large an
 * expression is, but not what it does.
 */
export function metered(root: unknown, meter: Meter): void {
  const seen = new Set<unknown>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    seen.add(value)
    if (Array.isArray(value)) {
      for (const item of value) visit(item)
      return
    }
    if (isPart(value)) {
      visit(value.args)
      visit(value.meta)
      wrap(value, meter, (result) => charge(meter, result))
      boundJoin(value, meter)
      return
    }
    // Macros and comprehensions keep their parts in plain objects.
    if (Object.getPrototypeOf(value) === Object.prototype) for (const inner of Object.values(value)) visit(inner)
  }
  visit(root)
}

function isPart(value: object): value is Part {
  return 'op' in value && 'evaluate' in value && typeof value.evaluate === 'function'
}

function wrap(part: Part, meter: Meter, then: (result: unknown) => void): void {
  let inner = part.evaluate
  const counted: Evaluate = (...args) => {
    meter.left -= 1
    assertLeft(meter)
    const result = inner.apply(part, args)
    then(result)
    return result
  }
  // The library sets the function anew on the first computation.
  Object.defineProperty(part, 'evaluate', {
    configurable: true,
    get: () => counted,
    set: (next: Evaluate) => {
      inner = next
    },
  })
}

function charge(meter: Meter, result: unknown): void {
  const size = typeof result === 'string' ? result.length : Array.isArray(result) ? result.length : 0
  meter.left -= Math.floor(size / 64)
  assertLeft(meter)
  if (typeof result === 'string') boundText(result.length)
  else if (size > LIMITS.items) throw new CostError(`makes a list of more than ${LIMITS.items} items`)
}

/** @throws CostError when nothing is left */
export function assertLeft(meter: Meter): void {
  if (meter.left < 0) throw new CostError(`takes more than ${LIMITS.steps} steps`)
}

/** @throws CostError for a text that is longer than any may be */
export function boundText(length: number): void {
  if (length > LIMITS.text) throw new CostError(`makes a text of more than ${LIMITS.text} characters`)
}

/** The text that `join` makes is looked at before it is made: it may be as long as the largest list times the separator. */
function boundJoin({ op, args }: Part, meter: Meter): void {
  if (op !== 'rcall' || !Array.isArray(args) || args[0] !== 'join') return
  const [, list, [separator] = []] = args as [string, Part, Part[]?]
  let length = 0
  let items = 0
  wrap(list, meter, (result) => {
    if (!Array.isArray(result)) return
    items = result.length
    length = result.reduce<number>((sum, item) => sum + (typeof item === 'string' ? item.length : 0), 0)
    boundText(length)
  })
  if (separator !== undefined) {
    wrap(separator, meter, (result) => boundText(typeof result === 'string' ? length + items * result.length : 0))
  }
}
