/*
 * Ways in which messages have selectors and labels: Kubernetes' own form (`MatchLabels:map[string]string{app: web,}`),
 * Go's (`map[app:web tier:front]`), JSON, and selectors as kubectl takes them (`app=web,tier in (front)`).
 */
const KEY = String.raw`causeway\.dev/[-.\w]+`
const REQUIREMENT = String.raw`(?:(?:v1\.)?LabelSelectorRequirement)?\{"?[kK]ey"?: ?"?${KEY}(?:[^{}]|\{[^{}]*\})*\}`
const QUOTED = String.raw`"${KEY}"(?:: ?"[^"]*")?`
const PLAIN = String.raw`!?${KEY}(?:\s*(?::|!=|==?) ?[-.\w/]*|\s+(?:not)?in\s+\([^)]*\))?`
const OURS = String.raw`(?:${REQUIREMENT}|${QUOTED}|${PLAIN})`
/** With the comma after it, as Kubernetes' own form has one after each entry, else with what stands before it. */
const ENTRY = new RegExp(String.raw`${OURS},\s?|(?:,\s?|\s)?${OURS}`, 'g')

/** A text without what it has of our own labels and annotations: keys, values, and the selector terms that name them. */
export function withoutOwnLabels(text: string): string {
  return text.includes('causeway.dev/') ? text.replace(ENTRY, '') : text
}
