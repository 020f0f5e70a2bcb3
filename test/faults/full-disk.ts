import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** A small disk of its own for the store of NATS. */
export type SmallDisk = {
  fill(): void
  /** Gives the space back. */
  relieve(): void
  unmount(): void
}

const CHUNK = Buffer.alloc(1024 * 1024)
const BALLAST = 'ballast'

/**
 * Mounts a disk in memory at a folder.
 * @returns why there is none, where this user may not mount
 */
export function mountSmallDisk(folder: string, sizeMb: number): SmallDisk | string {
  mkdirSync(folder, { recursive: true })
  try {
    const args = ['-t', 'tmpfs', '-o', `size=${String(sizeMb)}m`, 'tmpfs', folder]
    execFileSync('mount', args, { stdio: 'pipe' })
  } catch (error) {
    return `no disk of its own can be mounted here: ${String((error as { stderr?: Buffer }).stderr ?? error).trim()}`
  }
  let isMounted = true
  const unmount = (): void => {
    if (!isMounted) return
    isMounted = false
    process.removeListener('exit', unmount)
    execFileSync('umount', ['-l', folder], { stdio: 'pipe' })
  }
  process.once('exit', unmount)
  return {
    fill: () => {
      const file = openSync(join(folder, BALLAST), 'a')
      try {
        for (;;) writeSync(file, CHUNK)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
    },
    relieve: () => rmSync(join(folder, BALLAST), { force: true }),
    unmount,
  }
}

/** Removes what is in a folder, which may be a mount. */
export function emptyFolder(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true })
}
