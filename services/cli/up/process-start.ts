import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/**
 * When a process was started, as a text that no other process of the same pid has: pids are given anew, after a restart
 * of the machine most of all. `undefined` where that cannot be told, or there is no such process.
 */
export function processStart(pid: number): string | undefined {
  try {
    if (!existsSync('/proc/self/stat')) {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined
    }
    // The second field is the command in parentheses, which may hold anything; the start is the 22nd.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${ticks}`
  } catch {
    return undefined
  }
}

/**
 * Whether a process runs.
 * @param started what `processStart` said of it; another of its pid is not it. @default any of its pid is it
 */
export function isAlive(pid: number, started?: string): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const now = started === undefined ? undefined : processStart(pid)
  return now === undefined || now === started
}
