import descriptions from '../data/column-descriptions.json' with { type: 'json' }

const TEXTS: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> = descriptions

/** The text that explains a column, in the API's words where we have them; else the column's own name. */
export function columnDescription(resourceToken: string, name: string): string {
  return TEXTS[resourceToken]?.[name] ?? TEXTS['']?.[name] ?? name
}
