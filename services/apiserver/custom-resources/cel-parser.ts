/** A parsed expression of the Common Expression Language. */
export type CelNode =
  | { kind: 'literal'; value: unknown }
  | { kind: 'name'; name: string }
  | { kind: 'field'; of: CelNode; name: string; isTest?: boolean }
  | { kind: 'index'; of: CelNode; at: CelNode }
  | { kind: 'call'; name: string; on: CelNode | undefined; args: CelNode[] }
  | { kind: 'unary'; operator: '!' | '-'; of: CelNode }
  | { kind: 'binary'; operator: string; left: CelNode; right: CelNode }
  | { kind: 'choice'; condition: CelNode; yes: CelNode; no: CelNode }
  | { kind: 'list'; items: CelNode[] }
  | { kind: 'map'; entries: [CelNode, CelNode][] }

/** The expression cannot be read. */
export class CelSyntaxError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CelSyntaxError'
  }
}

const TOKEN =
  /\s*(?:(?<float>\d+\.\d+(?:[eE][+-]?\d+)?)|(?<int>0x[0-9a-fA-F]+|\d+)u?|(?<name>[A-Za-z_]\w*)|(?<raw>r?)(?<text>"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?<operator>&&|\|\||[=!<>]=|[-+*/%<>!?:.,()[\]{}]))/y

type Token = { type: 'number' | 'name' | 'text' | 'operator'; text: string; value?: unknown }

/** Reads an expression. @throws CelSyntaxError */
export function parseCel(source: string): CelNode {
  const parser = new Parser(tokens(source))
  const node = parser.expression()
  parser.end()
  return node
}

function tokens(source: string): Token[] {
  const found: Token[] = []
  const text = source.replaceAll(/(?<=^|\s)\/\/[^\n]*/g, '').trimEnd()
  let position = 0
  while (position < text.length) {
    TOKEN.lastIndex = position
    // A raw string's `r` would be read as a name.
    const start = /^\s*r(?=["'])/.exec(text.slice(position))
    const match = start === null ? TOKEN.exec(text) : rawText(text, position, start[0].length)
    if (match === null) throw new CelSyntaxError(`cannot read ${JSON.stringify(text.slice(position, position + 20))}`)
    position += match[0].length
    found.push(tokenOf(match.groups ?? {}))
  }
  return found
}

function rawText(text: string, position: number, length: number): RegExpExecArray | null {
  TOKEN.lastIndex = position + length
  const match = TOKEN.exec(text)
  if (match?.groups !== undefined) {
    match.groups['raw'] = 'r'
    match[0] = text.slice(position, position + length) + match[0]
  }
  return match
}

function tokenOf(groups: Record<string, string | undefined>): Token {
  const { float, int, name, raw, text, operator = '' } = groups
  if (float !== undefined) return { type: 'number', text: float, value: Number(float) }
  if (int !== undefined) return { type: 'number', text: int, value: Number(int) }
  if (name !== undefined) return { type: 'name', text: name }
  if (text !== undefined) return { type: 'text', text, value: unquoted(text, raw === 'r') }
  return { type: 'operator', text: operator }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\u0007', b: '\b', f: '\f', v: '\v' }

function unquoted(text: string, isRaw: boolean): string {
  const quote = text.startsWith('"""') ? 3 : 1
  const body = text.slice(quote, -quote)
  if (isRaw) return body
  return body.replaceAll(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))/g, (_all, unicode, hex, char: string) => {
    const code = (unicode ?? hex) as string | undefined
    return code === undefined ? (ESCAPES[char] ?? char) : String.fromCodePoint(Number.parseInt(code, 16))
  })
}

const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['==', '!=', '<', '<=', '>', '>=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
]

class Parser {
  readonly #tokens: readonly Token[]
  #next = 0

  constructor(list: readonly Token[]) {
    this.#tokens = list
  }

  expression(): CelNode {
    const condition = this.#binary(0)
    if (!this.#take('?')) return condition
    const yes = this.#binary(0)
    this.#expect(':')
    return { kind: 'choice', condition, yes, no: this.expression() }
  }

  end(): void {
    const rest = this.#tokens[this.#next]
    if (rest !== undefined) throw new CelSyntaxError(`unexpected ${JSON.stringify(rest.text)}`)
  }

  #binary(level: number): CelNode {
    const operators = LEVELS[level]
    if (operators === undefined) return this.#unary()
    let left = this.#binary(level + 1)
    for (;;) {
      const operator = this.#takeOne(operators)
      if (operator === undefined) return left
      left = { kind: 'binary', operator, left, right: this.#binary(level + 1) }
    }
  }

  #unary(): CelNode {
    if (this.#take('!')) return { kind: 'unary', operator: '!', of: this.#unary() }
    if (this.#take('-')) return { kind: 'unary', operator: '-', of: this.#unary() }
    return this.#member()
  }

  #member(): CelNode {
    let node = this.#primary()
    for (;;) {
      if (this.#take('.')) {
        this.#take('?')
        const name = this.#name()
        node = this.#take('(')
          ? { kind: 'call', name, on: node, args: this.#list(')') }
          : { kind: 'field', of: node, name }
      } else if (this.#take('[')) {
        const at = this.expression()
        this.#expect(']')
        node = { kind: 'index', of: node, at }
      } else return node
    }
  }

  #primary(): CelNode {
    const token = this.#tokens[this.#next]
    this.#next += 1
    if (token === undefined) throw new CelSyntaxError('unexpected end')
    if (token.type === 'number' || token.type === 'text') return { kind: 'literal', value: token.value }
    if (token.type === 'name') return this.#named(token.text)
    if (token.text === '(') {
      const inner = this.expression()
      this.#expect(')')
      return inner
    }
    if (token.text === '[') return { kind: 'list', items: this.#list(']') }
    if (token.text === '{') return { kind: 'map', entries: this.#entries() }
    throw new CelSyntaxError(`unexpected ${JSON.stringify(token.text)}`)
  }

  #named(name: string): CelNode {
    if (name === 'true' || name === 'false') return { kind: 'literal', value: name === 'true' }
    if (name === 'null') return { kind: 'literal', value: null }
    if (!this.#take('(')) return { kind: 'name', name }
    const args = this.#list(')')
    const [first] = args
    if (name === 'has' && first?.kind === 'field') return { ...first, isTest: true }
    return { kind: 'call', name, on: undefined, args }
  }

  #list(end: string): CelNode[] {
    const items: CelNode[] = []
    while (!this.#take(end)) {
      items.push(this.expression())
      if (!this.#take(',')) {
        this.#expect(end)
        break
      }
    }
    return items
  }

  #entries(): [CelNode, CelNode][] {
    const entries: [CelNode, CelNode][] = []
    while (!this.#take('}')) {
      const key = this.expression()
      this.#expect(':')
      entries.push([key, this.expression()])
      if (!this.#take(',')) {
        this.#expect('}')
        break
      }
    }
    return entries
  }

  #name(): string {
    const token = this.#tokens[this.#next]
    if (token?.type !== 'name') throw new CelSyntaxError('a name is missing')
    this.#next += 1
    return token.text
  }

  #takeOne(operators: readonly string[]): string | undefined {
    return operators.find((operator) => this.#take(operator))
  }

  #take(text: string): boolean {
    const token = this.#tokens[this.#next]
    if (token === undefined || token.text !== text || (token.type !== 'operator' && text !== 'in')) return false
    this.#next += 1
    return true
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw new CelSyntaxError(`${JSON.stringify(text)} is missing`)
  }
}
