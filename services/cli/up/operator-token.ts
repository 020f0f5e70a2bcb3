import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError, errorMessage } from '#libs/kernel'

/** As the console itself asks for. */
const LEAST_LENGTH = 16

/** The operator token of the console, from a file. @throws ConfigError when it cannot be read or is too short */
export function readToken(path: string): { file: string; token: string } {
  const file = resolve(path)
  let token: string
  try {
    token = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new ConfigError([`--console-token-file ${path}: cannot be read (${errorMessage(error)})`])
  }
  if (token.length >= LEAST_LENGTH) return { file, token }
  throw new ConfigError([`--console-token-file ${path}: the token must have ${LEAST_LENGTH} characters or more`])
}
