import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { Problem } from './problem.ts'

/** Nothing from elsewhere, nothing inline, in nobody's frame. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types lit-html",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
}

/**
 * Turns away what another web site has a browser ask: a request across sites, and one under a name of that site which
 * leads here.
 * @param names under which the console is served besides addresses and localhost: another site can make only names lead here
 * @throws Problem 403
 */
export function refuseOtherSites({ headers }: IncomingMessage, names: readonly string[]): void {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new Problem(403, 'OtherSite', 'another site asks: open the console itself')
  }
  const name = (headers.host ?? '').replace(/:\d+$/, '')
  if (name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || names.includes(name)) return
  throw new Problem(403, 'WrongHost', `"${name}" is no name of this console: start it with --name ${name}`)
}

/**
 * Lets operators pass alone: those who show the token in the Authorization header, which no other site can make a browser
 * send.
 * @throws Problem 403 where the console was started without a token, 401 for a wrong one
 */
export function requireOperator({ headers }: IncomingMessage, token: string | undefined): void {
  if (token === undefined) {
    throw new Problem(403, 'ReadOnly', 'this console only shows: start it with an operator token to act')
  }
  const shown = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
  // Digests, so that neither length nor content tells by how long it takes.
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  if (!timingSafeEqual(digest(shown), digest(token))) {
    throw new Problem(401, 'WrongToken', 'the operator token is missing or wrong')
  }
}
