import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ConfigError, errorMessage } from '#libs/kernel'

/** How the console is served. */
export type ConsoleOptions = {
  host: string
  /** 0 takes a free one. */
  port: number
  /** Names under which it is served, besides addresses and localhost. */
  names?: string[]
  /** Lets whoever shows it retry what waits; nobody may where it is absent. */
  operatorToken?: string
}

const LEAST_TOKEN_LENGTH = 16

/**
 * Reads the flags of the console's own process.
 * @throws ConfigError with every problem, each naming its flag
 */
export function parseCommandLine(args: readonly string[]): ConsoleOptions {
  const problems: string[] = []
  let values: { host?: string; port?: string; name?: string[]; 'token-file'?: string } = {}
  try {
    values = parseArgs({
      args: [...args],
      options: {
        host: { type: 'string' },
        port: { type: 'string' },
        name: { type: 'string', multiple: true },
        'token-file': { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new ConfigError([errorMessage(error)])
  }
  const { host = '127.0.0.1', port = '0', name: names = [] } = values
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) problems.push(`--port ${port}: must be from 0 to 65535`)
  if (problems.length > 0) throw new ConfigError(problems)
  const file = values['token-file']
  return { host, port: Number(port), names, ...(file === undefined ? {} : { operatorToken: readOperatorToken(file) }) }
}

/** The token in a file, without white space around it. @throws ConfigError when it cannot be read or is too short */
function readOperatorToken(file: string): string {
  let token: string
  try {
    token = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new ConfigError([`--token-file ${file}: cannot be read (${errorMessage(error)})`])
  }
  if (token.length < LEAST_TOKEN_LENGTH) {
    throw new ConfigError([`--token-file ${file}: the token must have ${LEAST_TOKEN_LENGTH} characters or more`])
  }
  return token
}
