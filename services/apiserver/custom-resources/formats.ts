import { isIP, isIPv4, isIPv6 } from 'node:net'

const DATE = /^\d{4}-\d{2}-\d{2}$/
const TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/

/** The formats of strings that are checked; others are taken as they are. */
const CHECKS: Readonly<Record<string, (text: string) => boolean>> = {
  date: (text) => DATE.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) => TIME.test(text) && !Number.isNaN(Date.parse(text.replace(' ', 'T'))),
  datetime: (text) => TIME.test(text) && !Number.isNaN(Date.parse(text.replace(' ', 'T'))),
  duration: (text) => /^[+-]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+$/.test(text),
  ipv4: (text) => isIPv4(text),
  ipv6: (text) => isIPv6(text),
  cidr: (text) => /^[^/]+\/\d{1,3}$/.test(text) && isIP(text.split('/')[0] ?? '') !== 0,
  mac: (text) => /^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$/.test(text),
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  hostname: (text) => /^[a-zA-Z0-9]([-a-zA-Z0-9]{0,62})(\.[a-zA-Z0-9]([-a-zA-Z0-9]{0,62}))*\.?$/.test(text),
  uri: (text) => URL.canParse(text) || text.startsWith('/'),
  byte: (text) => /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0,
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
}

/** Whether a text is of a format; true for formats that are not known. */
export function hasFormat(text: string, format: string): boolean {
  return CHECKS[format]?.(text) ?? true
}
