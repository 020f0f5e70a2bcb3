const NAME_PART = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const NAME_REGEX = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const VALUE_REGEX = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/
const SUBDOMAIN_REGEX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

const NAME_RULE = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${NAME_PART}')`

/** Text of the rule for lower-case DNS names with dots. */
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

/** What is wrong with a DNS subdomain such as most object names. */
export function subdomainProblems(text: string): string[] {
  const problems: string[] = []
  if (text.length > 253) problems.push('must be no more than 253 characters')
  if (!SUBDOMAIN_REGEX.test(text)) problems.push(SUBDOMAIN_RULE)
  return problems
}

/** What is wrong with a qualified name, such as the key of a label or an annotation. */
export function qualifiedNameProblems(text: string): string[] {
  const parts = text.split('/')
  if (parts.length > 2) {
    return [`a valid label key ${NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  }
  const problems: string[] = []
  const prefix = parts.length === 2 ? (parts[0] ?? '') : undefined
  const name = parts.at(-1) ?? ''
  if (prefix !== undefined) {
    if (prefix === '') problems.push('prefix part must be non-empty')
    else for (const problem of subdomainProblems(prefix)) problems.push(`prefix part ${problem}`)
  }
  if (name === '') problems.push('name part must be non-empty')
  else if (name.length > 63) problems.push('name part must be no more than 63 bytes')
  if (!NAME_REGEX.test(name)) problems.push(`name part ${NAME_RULE}`)
  return problems
}

/** What is wrong with the value of a label. */
export function labelValueProblems(text: string): string[] {
  const problems: string[] = []
  if (Buffer.byteLength(text) > 63) problems.push('must be no more than 63 bytes')
  if (!VALUE_REGEX.test(text)) {
    problems.push(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    )
  }
  return problems
}
