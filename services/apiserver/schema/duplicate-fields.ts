type Frame = { keys: Set<string> | undefined; path: string; key: string; index: number; expectsKey: boolean }

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]/g

/** Paths of fields that an object in a JSON text names twice, in order. The text must be sound JSON. */
export function duplicateFields(text: string): string[] {
  const duplicates: string[] = []
  const stack: Frame[] = []
  for (const [token] of text.matchAll(TOKEN)) {
    const frame = stack.at(-1)
    if (token === '{' || token === '[') {
      const keys = token === '{' ? new Set<string>() : undefined
      stack.push({ keys, path: childPath(frame), key: '', index: 0, expectsKey: token === '{' })
    } else if (token === '}' || token === ']') stack.pop()
    else if (token === ',') {
      if (frame === undefined) continue
      frame.index += 1
      frame.expectsKey = frame.keys !== undefined
    } else if (frame?.keys !== undefined && frame.expectsKey) {
      frame.key = JSON.parse(token) as string
      frame.expectsKey = false
      if (frame.keys.has(frame.key)) duplicates.push(childPath(frame))
      frame.keys.add(frame.key)
    }
  }
  return duplicates
}

function childPath(frame: Frame | undefined): string {
  if (frame === undefined) return ''
  if (frame.keys === undefined) return `${frame.path}[${frame.index}]`
  return frame.path === '' ? frame.key : `${frame.path}.${frame.key}`
}
