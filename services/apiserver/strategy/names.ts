import { subdomainProblems } from '../selectors/label-syntax.ts'

export { subdomainProblems }

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/** What is wrong with a DNS label, such as a namespace's or a container's name. */
export function dnsLabelProblems(text: string): string[] {
  const problems: string[] = []
  if (text.length > 63) problems.push('must be no more than 63 characters')
  if (!LABEL.test(text)) {
    problems.push(
      SUBDOMAIN.test(text)
        ? 'must not contain dots'
        : "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    )
  }
  return problems
}

/** What is wrong with a name that only has to be one segment of a path, such as a Role's. */
export function pathSegmentProblems(text: string): string[] {
  if (text === '.' || text === '..') return [`may not be '${text}'`]
  return ['/', '%'].filter((char) => text.includes(char)).map((char) => `may not contain '${char}'`)
}

/** What is wrong with the name of a port. */
export function portNameProblems(text: string): string[] {
  const problems: string[] = []
  if (text.length > 15) problems.push('must be no more than 15 characters')
  if (!/^[-a-z0-9]+$/.test(text))
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(text)) problems.push('must contain at least one letter (a-z)')
  if (text.includes('--')) problems.push('must not contain consecutive hyphens')
  if (text.startsWith('-') || text.endsWith('-')) problems.push('must not begin or end with a hyphen')
  return problems
}

/** What is wrong with a port number. */
export function portNumberProblems(port: number): string[] {
  return port >= 1 && port <= 65_535 ? [] : ['must be between 1 and 65535, inclusive']
}

/** What is wrong with a key of a ConfigMap or Secret. */
export function configKeyProblems(text: string): string[] {
  const problems: string[] = []
  if (text.length > 253) problems.push('must be no more than 253 characters')
  if (!/^[-._a-zA-Z0-9]+$/.test(text)) {
    problems.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    )
  }
  if (text === '.' || text === '..') problems.push(`must not be '${text}'`)
  else if (text.startsWith('..')) problems.push("must not start with '..'")
  return problems
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
const IPV6 = /^[0-9a-fA-F:]*:[0-9a-fA-F:.]*$/

/** Whether a text is an IP address of either family. */
export function isIpAddress(text: string): boolean {
  return IPV4.test(text) || (IPV6.test(text) && URL.canParse(`http://[${text}]/`))
}
