import { ApiError } from '../api-error.ts'
import { asString, isObject, objectsIn, stringsIn } from '../schema/json-shape.ts'
import { labelValueProblems, qualifiedNameProblems } from './label-syntax.ts'

export type Labels = Readonly<Record<string, string>> | undefined
export type LabelPredicate = (labels: Labels) => boolean

type Operator = 'in' | 'notin' | '=' | '==' | '!=' | 'exists' | '!' | 'gt' | 'lt'
type Requirement = { key: string; operator: Operator; values: string[] }

/**
 * Parses a label selector of a request, such as `app=x,tier in (a,b),!old`; empty text selects everything. Throws 400
 * with the API's messages.
 */
export function parseLabelSelector(text: string): LabelPredicate {
  const requirements = new Parser(text).parse()
  if (requirements.length === 0) return () => true
  return (labels) => requirements.every((requirement) => satisfies(requirement, labels ?? {}))
}

/**
 * Whether labels match a LabelSelector object (`matchLabels`, `matchExpressions`). A missing selector matches nothing,
 * an empty one everything.
 */
export function matchesLabelSelector(selector: unknown, labels: Labels): boolean {
  if (!isObject(selector)) return false
  const present = labels ?? {}
  const { matchLabels } = selector
  if (isObject(matchLabels)) {
    for (const [key, value] of Object.entries(matchLabels)) if (present[key] !== value) return false
  }
  return objectsIn(selector['matchExpressions']).every((expression) => {
    const operator = EXPRESSION_OPERATORS[asString(expression['operator'])]
    if (operator === undefined) return false
    return satisfies({ key: asString(expression['key']), operator, values: stringsIn(expression['values']) }, present)
  })
}

const EXPRESSION_OPERATORS: Record<string, Operator> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
}

function satisfies({ key, operator, values }: Requirement, labels: Record<string, string>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'in':
    case '=':
    case '==':
      return value !== undefined && values.includes(value)
    case 'notin':
    case '!=':
      return value === undefined || !values.includes(value)
    case 'exists':
      return value !== undefined
    case '!':
      return value === undefined
    case 'gt':
    case 'lt': {
      const number = Number(value)
      if (value === undefined || !/^-?\d+$/.test(value)) return false
      return operator === 'gt' ? number > Number(values[0]) : number < Number(values[0])
    }
    default:
      return operator satisfies never
  }
}

const SYMBOLS = ['==', '!=', '=', '!', '(', ')', ',', '<', '>']
const WORDS = new Set(['in', 'notin'])

type Token = { kind: 'symbol' | 'word' | 'identifier' | 'end'; text: string }

function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  let index = 0
  while (index < text.length) {
    const char = text[index] ?? ''
    if (/\s/.test(char)) {
      index += 1
      continue
    }
    const symbol = SYMBOLS.find((candidate) => text.startsWith(candidate, index))
    if (symbol !== undefined) {
      tokens.push({ kind: 'symbol', text: symbol })
      index += symbol.length
      continue
    }
    const identifier = /^[^\s=!(),<>]+/.exec(text.slice(index))?.[0] ?? char
    tokens.push({ kind: WORDS.has(identifier) ? 'word' : 'identifier', text: identifier })
    index += identifier.length
  }
  return tokens
}

const END: Token = { kind: 'end', text: '' }

const unparsable = (problem: string): ApiError => ApiError.badRequest(`unable to parse requirement: ${problem}`)

class Parser {
  readonly #tokens: Token[]
  #position = 0

  constructor(text: string) {
    this.#tokens = tokenize(text)
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = []
    for (;;) {
      const token = this.#peek()
      if (token.kind === 'end') return requirements
      if (token.kind !== 'identifier' && token.kind !== 'word' && token.text !== '!') {
        throw ApiError.badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`)
      }
      requirements.push(this.#requirement())
      const separator = this.#next()
      if (separator.kind === 'end') return requirements
      if (separator.text !== ',') {
        throw ApiError.badRequest(`found '${separator.text}', expected: ',' or 'end of string'`)
      }
      const following = this.#peek()
      if (following.kind !== 'identifier' && following.kind !== 'word' && following.text !== '!') {
        throw ApiError.badRequest(`found '${following.text}', expected: identifier after ','`)
      }
    }
  }

  #peek(): Token {
    return this.#tokens[this.#position] ?? END
  }

  #next(): Token {
    const token = this.#peek()
    this.#position += 1
    return token
  }

  #requirement(): Requirement {
    const isNegated = this.#peek().text === '!'
    if (isNegated) this.#next()
    const key = this.#next()
    if (key.kind !== 'identifier' && key.kind !== 'word') {
      throw unparsable(`found '${key.text}', expected: identifier`)
    }
    const [problem] = qualifiedNameProblems(key.text)
    if (problem !== undefined) throw unparsable(`<nil>: Invalid value: ${JSON.stringify(key.text)}: ${problem}`)
    if (isNegated) return { key: key.text, operator: '!', values: [] }
    const following = this.#peek()
    if (following.kind === 'end' || following.text === ',') return { key: key.text, operator: 'exists', values: [] }
    const operator = this.#operator()
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#exactValue()]
    checkValues(key.text, operator, values)
    return { key: key.text, operator, values }
  }

  #operator(): Operator {
    const { text } = this.#next()
    switch (text) {
      case '=':
      case '==':
      case '!=':
      case 'in':
      case 'notin':
        return text
      case '>':
        return 'gt'
      case '<':
        return 'lt'
      default:
        throw unparsable(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`)
    }
  }

  #values(): string[] {
    const open = this.#next()
    if (open.text !== '(') throw unparsable(`found '${open.text}' expected: '('`)
    const values = new Set<string>()
    for (;;) {
      const token = this.#next()
      if (token.kind === 'identifier' || token.kind === 'word') {
        values.add(token.text)
        const separator = this.#next()
        if (separator.text === ')') break
        if (separator.text !== ',') throw unparsable(`found '${separator.text}', expected: ',' or ')'`)
        if (this.#peek().text === ')') values.add('')
      } else if (token.text === ',') values.add('')
      else if (token.text === ')' && token.kind === 'symbol') {
        values.add('')
        break
      } else throw unparsable(`found '${token.text}', expected: ',', ')' or identifier`)
    }
    return [...values].sort()
  }

  #exactValue(): string {
    const token = this.#peek()
    if (token.kind === 'end' || token.text === ',') return ''
    this.#next()
    if (token.kind !== 'identifier' && token.kind !== 'word') {
      throw unparsable(`found '${token.text}', expected: identifier`)
    }
    return token.text
  }
}

function checkValues(key: string, operator: Operator, values: readonly string[]): void {
  for (const [index, value] of values.entries()) {
    if ((operator === 'gt' || operator === 'lt') && !/^[+-]?\d+$/.test(value)) {
      throw unparsable(
        `values[${index}]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
      )
    }
    const [problem] = labelValueProblems(value)
    if (problem !== undefined) {
      throw unparsable(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${problem}`)
    }
  }
}
