import { Environment } from '@marcbachmann/cel-js'
import type { Json, JsonObject } from '#libs/kube-model'
import { javascriptHint } from './explain.ts'
import { addFunctions } from './functions.ts'
import { LIMITS } from './limits.ts'
import { type Meter, assertLeft, metered } from './meter.ts'
import { toExpressionValue, toJson } from './values.ts'

/** What came of a computation; `problem` is a sentence without its subject, such as "takes more than 20000 steps". */
export type Computed = { ok: true; value: Json } | { ok: false; problem: string }

/** An expression that was read and checked. */
export type Expression = {
  source: string
  /** Whether it looks at `context`, so that callers need not make one in vain. */
  usesContext: boolean
  /**
   * Computes it. Never throws, and is bounded in time and memory by {@link LIMITS} whatever goes in.
   * @param value what the expression calls `value`
   * @param context what it calls `context`
   */
  compute(value: Json, context: JsonObject): Computed
}

/**
 * The functions of the language that may be called. Regular expressions, durations and times are not among them: the
 * library takes time without bound for some of their texts.
 */
const CALLS: ReadonlySet<string> = new Set(
  [
    'has bind map filter all exists exists_one',
    'size string int double bool dyn',
    'contains startsWith endsWith indexOf lastIndexOf substring trimPrefix trimSuffix',
    'lowerAscii upperAscii trim split join replace',
  ].flatMap((names) => names.split(' ')),
)

const environment = addFunctions(
  new Environment({
    homogeneousAggregateLiterals: false,
    limits: {
      maxAstNodes: LIMITS.nodes,
      maxDepth: LIMITS.depth,
      maxListElements: LIMITS.nodes,
      maxMapEntries: LIMITS.nodes,
      maxCallArguments: LIMITS.arguments,
    },
  })
    .registerVariable('value', 'dyn')
    .registerVariable('context', 'map<string, dyn>'),
)

/**
 * Reads and checks an expression of the Common Expression Language (CEL).
 * @returns the expression, or what is wrong with it as a sentence without its subject
 */
export function compileExpression(source: string): Expression | { problem: string } {
  if (source.length > LIMITS.source) return { problem: `is longer than ${LIMITS.source} characters` }
  try {
    const program = environment.parse(source)
    const checked = program.check()
    if (!checked.valid) return { problem: `cannot be used: ${firstLine(checked.error)}${javascriptHint(source)}` }
    const { variables, calls } = namesIn(program.ast)
    const refused = calls.find((name) => !CALLS.has(name))
    if (refused !== undefined) return { problem: `cannot call ${refused}(); there are ${[...CALLS].join(', ')}` }
    const meter: Meter = { left: 0 }
    metered(program.ast, meter)
    return {
      source,
      usesContext: variables.includes('context'),
      compute: (value, context) => compute(program, { value, context, meter }),
    }
  } catch (error) {
    return { problem: `cannot be read: ${firstLine(error)}${javascriptHint(source)}` }
  }
}

type Program = ReturnType<Environment['parse']>

function compute(program: Program, input: { value: Json; context: JsonObject; meter: Meter }): Computed {
  const { meter } = input
  meter.left = LIMITS.steps
  try {
    const variables = { value: toExpressionValue(input.value), context: toExpressionValue(input.context) }
    const value = program(variables)
    // The language lets one side of || and the like decide although the other has failed.
    assertLeft(meter)
    return { ok: true, value: toJson(value) }
  } catch (error) {
    return { ok: false, problem: firstLine(error) }
  }
}

/** The variables and functions that an expression names, as the parser sees it. */
function namesIn(root: unknown): { variables: string[]; calls: string[] } {
  const names = { variables: [] as string[], calls: [] as string[] }
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) {
      for (const item of node) visit(item)
    } else if (typeof node === 'object' && node !== null && 'op' in node && 'args' in node) {
      const { op, args } = node
      if (op === 'id' && typeof args === 'string') names.variables.push(args)
      if ((op === 'call' || op === 'rcall') && Array.isArray(args)) names.calls.push(String(args[0]))
      visit(args)
    }
  }
  visit(root)
  return names
}

/** The library shows the place below its message; the rest may quote the value. */
function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return (message.split('\n')[0] ?? '').slice(0, 300)
}
