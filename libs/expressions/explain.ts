/** What people know from JavaScript, and what says the same here. */
const FROM_JAVASCRIPT: readonly { looks: RegExp; instead: string }[] = [
  {
    looks: /=>|\bfunction\b/,
    instead: 'functions are not written; lists have map(x, …), filter(x, …), all(x, …), exists(x, …)',
  },
  { looks: /[=!]==/, instead: 'values are compared by == and !=' },
  { looks: /`/, instead: 'texts are joined by +' },
  { looks: /\?\?|\?\./, instead: 'has(context.object.spec) asks whether a field is there' },
  { looks: /\.(slice|substr)\s*\(/, instead: 'use substring(from, to), trimPrefix(text) or trimSuffix(text)' },
  { looks: /\.length\b/, instead: 'use size(value)' },
  { looks: /\.to(Lower|Upper)Case\s*\(/, instead: 'use lowerAscii() or upperAscii()' },
  { looks: /\.includes\s*\(/, instead: 'use contains(text), or "x in list"' },
  {
    looks: /\.replace(All)?\s*\(\s*\/|\.match(es)?\s*\(|\.test\s*\(|\.replaceAll\s*\(/,
    instead: 'there are no regular expressions; use startsWith, endsWith, contains, split or replace(text, text)',
  },
  {
    looks: /\b(let|const|var|return|new|typeof|undefined)\b|;\s*\S/,
    instead: 'an expression is one value; null takes the field out',
  },
]

/** What to write instead, where an expression looks like JavaScript; empty otherwise. */
export function javascriptHint(source: string): string {
  const outsideTexts = source.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""')
  const found = FROM_JAVASCRIPT.find(({ looks }) => looks.test(outsideTexts))
  return found === undefined ? '' : `; expressions are CEL, not JavaScript: ${found.instead}`
}
