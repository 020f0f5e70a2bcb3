import { ConfigError, errorMessage } from '#libs/kernel'
import { EXIT } from '../why/exit-status.ts'
import type { Terminal } from './terminal.ts'

/** Where the question itself cannot be answered, that is its own exit status. */
export async function told(terminal: Terminal, ask: () => Promise<number>): Promise<number> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ConfigError) throw error
    terminal.progress(`causeway: ${errorMessage(error)}`)
    return EXIT.cannotTell
  }
}
