const LITERALS: Record<string, string> = { n: 'null', t: 'true', f: 'false' }

/**
 * What is wrong with a text that should be JSON, in the words of the decoder upstream; `undefined` when it is sound.
 */
export function goSyntaxProblem(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch {
    return new Scanner(text).run() ?? 'unexpected end of JSON input'
  }
}

const quoted = (char: string): string => (char === "'" ? "'\\''" : char === '"' ? "'\"'" : `'${char}'`)

/** Walks the text until the first character that cannot stand where it stands. */
class Scanner {
  readonly #text: string
  #index = 0

  constructor(text: string) {
    this.#text = text
  }

  run(): string | undefined {
    const problem = this.#value()
    if (problem !== undefined) return problem
    const rest = this.#peek()
    return rest === undefined ? undefined : invalidCharacter(rest, 'after top-level value')
  }

  #peek(): string | undefined {
    while (/\s/.test(this.#text[this.#index] ?? '')) this.#index += 1
    return this.#text[this.#index]
  }

  #value(): string | undefined {
    const char = this.#peek()
    if (char === undefined) return END
    if (char === '{') return this.#object()
    if (char === '[') return this.#array()
    if (char === '"') return this.#string()
    const literal = LITERALS[char]
    if (literal !== undefined) return this.#literal(literal)
    const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/.exec(this.#text.slice(this.#index))
    if (number === null) return invalidCharacter(char, 'looking for beginning of value')
    this.#index += number[0].length
    return undefined
  }

  #literal(literal: string): string | undefined {
    for (let offset = 1; offset < literal.length; offset += 1) {
      const char = this.#text[this.#index + offset]
      if (char === undefined) return END
      if (char !== literal[offset]) {
        return invalidCharacter(char, `in literal ${literal} (expecting ${quoted(literal[offset] ?? '')})`)
      }
    }
    this.#index += literal.length
    return undefined
  }

  #string(): string | undefined {
    this.#index += 1
    for (;;) {
      const char = this.#text[this.#index]
      if (char === undefined) return END
      this.#index += 1
      if (char === '"') return undefined
      if (char === '\\') {
        const escaped = this.#text[this.#index]
        if (escaped === undefined) return END
        if (!'"\\/bfnrtu'.includes(escaped)) return invalidCharacter(escaped, 'in string escape code')
        this.#index += 1
      } else if (char < ' ') return invalidCharacter(char === '\n' ? '\\n' : char, 'in string literal')
    }
  }

  #object(): string | undefined {
    this.#index += 1
    if (this.#peek() === '}') return this.#close()
    for (;;) {
      const key = this.#peek()
      if (key === undefined) return END
      if (key !== '"') return invalidCharacter(key, 'looking for beginning of object key string')
      const problem = this.#string() ?? this.#expectColon() ?? this.#value()
      if (problem !== undefined) return problem
      const next = this.#peek()
      if (next === undefined) return END
      if (next === '}') return this.#close()
      if (next !== ',') return invalidCharacter(next, 'after object key:value pair')
      this.#index += 1
    }
  }

  #expectColon(): string | undefined {
    const char = this.#peek()
    if (char === undefined) return END
    if (char !== ':') return invalidCharacter(char, 'after object key')
    this.#index += 1
    return undefined
  }

  #array(): string | undefined {
    this.#index += 1
    if (this.#peek() === ']') return this.#close()
    for (;;) {
      const problem = this.#value()
      if (problem !== undefined) return problem
      const next = this.#peek()
      if (next === undefined) return END
      if (next === ']') return this.#close()
      if (next !== ',') return invalidCharacter(next, 'after array element')
      this.#index += 1
    }
  }

  #close(): undefined {
    this.#index += 1
  }
}

const END = 'unexpected end of JSON input'

function invalidCharacter(char: string, place: string): string {
  return `invalid character ${quoted(char)} ${place}`
}
