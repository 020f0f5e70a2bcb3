import { jsonEqual } from '#libs/kernel'
import type { Json } from '#libs/kube-model'
import { isObject } from '../schema/json-shape.ts'
import type { CelNode } from './cel-parser.ts'

/** An expression that cannot be computed: a field is missing, types do not fit, or the function is not known here. */
export class CelError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CelError'
  }
}

export type CelVariables = Readonly<Record<string, unknown>>

/**
 * Computes an expression. The part of the language that schema rules use: operators, `has`, the macros over lists and
 * maps, and the common functions of strings and lists.
 * @throws CelError
 */
export function evaluateCel(node: CelNode, variables: CelVariables): unknown {
  const value = (inner: CelNode): unknown => evaluateCel(inner, variables)
  switch (node.kind) {
    case 'literal':
      return node.value
    case 'name':
      if (Object.hasOwn(variables, node.name)) return variables[node.name]
      throw new CelError(`undeclared reference to '${node.name}'`)
    case 'field':
      return field(value(node.of), node.name, node.isTest === true)
    case 'index':
      return element(value(node.of), value(node.at))
    case 'list':
      return node.items.map(value)
    case 'map':
      return Object.fromEntries(node.entries.map(([key, item]) => [String(value(key)), value(item)]))
    case 'unary': {
      const operand = value(node.of)
      return node.operator === '!' ? !truth(operand) : -Number(operand)
    }
    case 'choice':
      return truth(value(node.condition)) ? value(node.yes) : value(node.no)
    case 'binary':
      return binary(node, value)
    case 'call':
      return call(node, variables)
  }
}

function truth(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new CelError('no such overload')
  return value
}

/** Names that are keywords elsewhere are written with underscores around them. */
const unescaped = (name: string): string =>
  name
    .replace(/^__(\w+?)__$/, (all, inner: string) => (/dash|dot|slash|underscores/.test(inner) ? all : inner))
    .replaceAll('__dash__', '-')
    .replaceAll('__dot__', '.')
    .replaceAll('__slash__', '/')
    .replaceAll('__underscores__', '__')

function field(object: unknown, name: string, isTest: boolean): unknown {
  const key = unescaped(name)
  const isThere = isObject(object) && Object.hasOwn(object, key)
  if (isTest) return isThere
  if (isThere) return object[key]
  throw new CelError(`no such key: ${key}`)
}

function element(container: unknown, at: unknown): unknown {
  if (Array.isArray(container) && typeof at === 'number') {
    if (at >= 0 && at < container.length) return container[at] as unknown
    throw new CelError(`index out of bounds: ${at}`)
  }
  return field(container, String(at), false)
}

function binary(node: Extract<CelNode, { kind: 'binary' }>, value: (inner: CelNode) => unknown): unknown {
  const { operator } = node
  if (operator === '&&' || operator === '||') return logical(node, value)
  const left = value(node.left)
  const right = value(node.right)
  switch (operator) {
    case '==':
      return jsonEqual(left as Json, right as Json)
    case '!=':
      return !jsonEqual(left as Json, right as Json)
    case 'in':
      if (Array.isArray(right)) return right.some((item) => jsonEqual(item as Json, left as Json))
      return isObject(right) && Object.hasOwn(right, String(left))
    case '+':
      if (typeof left === 'string' && typeof right === 'string') return left + right
      if (Array.isArray(left) && Array.isArray(right)) return [...(left as unknown[]), ...(right as unknown[])]
      return arithmetic(operator, left, right)
    case '<':
    case '<=':
    case '>':
    case '>=':
      return ordered(operator, left, right)
    default:
      return arithmetic(operator, left, right)
  }
}

/** An error on one side counts for nothing when the other side decides. */
function logical(node: Extract<CelNode, { kind: 'binary' }>, value: (inner: CelNode) => unknown): boolean {
  const decisive = node.operator === '||'
  let failure: unknown
  for (const side of [node.left, node.right]) {
    try {
      if (truth(value(side)) === decisive) return decisive
    } catch (error) {
      failure ??= error
    }
  }
  if (failure !== undefined) throw failure as Error
  return !decisive
}

function ordered(operator: string, left: unknown, right: unknown): boolean {
  const fits = (typeof left === 'number' || typeof left === 'string') && typeof left === typeof right
  if (!fits) throw new CelError('no such overload')
  const order = (left as number) < (right as number) ? -1 : (left as number) > (right as number) ? 1 : 0
  return { '<': order < 0, '<=': order <= 0, '>': order > 0, '>=': order >= 0 }[operator] ?? false
}

function arithmetic(operator: string, left: unknown, right: unknown): number {
  if (typeof left !== 'number' || typeof right !== 'number') throw new CelError('no such overload')
  const isWhole = Number.isInteger(left) && Number.isInteger(right)
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '%':
      if (right === 0) throw new CelError('modulus by zero')
      return left % right
    default:
      if (right === 0 && isWhole) throw new CelError('divide by zero')
      return isWhole ? Math.trunc(left / right) : left / right
  }
}

type Call = Extract<CelNode, { kind: 'call' }>

function call(node: Call, variables: CelVariables): unknown {
  const { name, on, args } = node
  const target = on === undefined ? undefined : evaluateCel(on, variables)
  const [variable] = args
  if (on !== undefined && variable?.kind === 'name' && Object.hasOwn(MACROS, name) && args.length >= 2) {
    return MACROS[name]?.(
      items(target),
      (item, step) => {
        const body = args[step + 1]
        if (body === undefined) throw new CelError(`${name} lacks an argument`)
        return evaluateCel(body, { ...variables, [variable.name]: item })
      },
      args.length,
    )
  }
  const values = args.map((arg) => evaluateCel(arg, variables))
  const all = on === undefined ? values : [target, ...values]
  const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined
  if (known === undefined) throw new CelError(`undeclared reference to '${name}'`)
  return known(...all)
}

function items(target: unknown): unknown[] {
  if (Array.isArray(target)) return target as unknown[]
  if (isObject(target)) return Object.keys(target)
  throw new CelError('no such overload')
}

type Macro = (list: unknown[], body: (item: unknown, step: number) => unknown, count: number) => unknown

const MACROS: Readonly<Record<string, Macro>> = {
  all: (list, body) => list.every((item) => truth(body(item, 0))),
  exists: (list, body) => list.some((item) => truth(body(item, 0))),
  exists_one: (list, body) => list.filter((item) => truth(body(item, 0))).length === 1,
  existsOne: (list, body) => list.filter((item) => truth(body(item, 0))).length === 1,
  filter: (list, body) => list.filter((item) => truth(body(item, 0))),
  map: (list, body, count) =>
    count > 2
      ? list.filter((item) => truth(body(item, 0))).map((item) => body(item, 1))
      : list.map((item) => body(item, 0)),
}

const string = (value: unknown): string => {
  if (typeof value !== 'string') throw new CelError('no such overload')
  return value
}
const list = (value: unknown): unknown[] => {
  if (!Array.isArray(value)) throw new CelError('no such overload')
  return value as unknown[]
}
const pattern = (value: unknown): RegExp => {
  try {
    return new RegExp(string(value))
  } catch {
    throw new CelError('error parsing regexp')
  }
}

const characters = (text: string): number => Array.from(text).length

type Function = (...args: unknown[]) => unknown

const FUNCTIONS: Readonly<Record<string, Function>> = {
  size: (value) =>
    typeof value === 'string' ? characters(value) : Array.isArray(value) ? value.length : items(value).length,
  startsWith: (text, start) => string(text).startsWith(string(start)),
  endsWith: (text, end) => string(text).endsWith(string(end)),
  contains: (text, part) => string(text).includes(string(part)),
  matches: (text, expression) => pattern(expression).test(string(text)),
  find: (text, expression) => pattern(expression).exec(string(text))?.[0] ?? '',
  lowerAscii: (text) => string(text).toLowerCase(),
  upperAscii: (text) => string(text).toUpperCase(),
  trim: (text) => string(text).trim(),
  replace: (text, from, to) => string(text).replaceAll(string(from), () => string(to)),
  split: (text, by) => string(text).split(string(by)),
  substring: (text, from, to) => string(text).slice(Number(from), to === undefined ? undefined : Number(to)),
  join: (values, by) =>
    list(values)
      .map(String)
      .join(by === undefined ? '' : string(by)),
  indexOf: (value, part) => (typeof value === 'string' ? value.indexOf(string(part)) : list(value).indexOf(part)),
  int: (value) => Math.trunc(Number(value)),
  uint: (value) => Math.trunc(Number(value)),
  double: (value) => Number(value),
  string: (value) => String(value),
  bool: (value) => value === true || value === 'true',
  type: (value) => (value === null ? 'null_type' : Array.isArray(value) ? 'list' : typeof value),
  sum: (values) => list(values).reduce<number>((sum, value) => sum + Number(value), 0),
  min: (values) => Math.min(...list(values).map(Number)),
  max: (values) => Math.max(...list(values).map(Number)),
  isSorted: (values) =>
    list(values).every((value, index, all) => index === 0 || (all[index - 1] as number) <= (value as number)),
  isURL: (text) => URL.canParse(string(text)),
}
