import { readFileSync, writeFileSync } from 'node:fs'

/** What a process has used. */
export type Usage = {
  /** CPU time since its start, seconds. */
  cpuSeconds: number
  /** Most memory it has had at once, in MB. */
  peakMegabytes: number
}

/** Processes by what runs in them. */
export type Pids = Readonly<Record<string, number>>

/** The kernel counts CPU time in these, on every architecture that matters. */
const TICKS_PER_SECOND = 100

/** CPU seconds (user and system) from the text of `/proc/<pid>/stat`. The command in it may hold anything. */
export function parseStat(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Peak resident memory in MB from the text of `/proc/<pid>/status`. */
export function parsePeak(status: string): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024
}

/** What processes have used so far. One that has ended is left out. */
export function readUsage(pids: Pids): Map<string, Usage> {
  const usages = new Map<string, Usage>()
  for (const [name, pid] of Object.entries(pids)) {
    try {
      const cpuSeconds = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
      const peakMegabytes = parsePeak(readFileSync(`/proc/${pid}/status`, 'utf8'))
      usages.set(name, { cpuSeconds, peakMegabytes })
    } catch {
      // Ended meanwhile, or this system has no /proc.
    }
  }
  return usages
}

/** Memory that processes have now, in MB. One that has ended is left out. */
export function readResident(pids: Pids): Record<string, number> {
  const entries = Object.entries(pids).flatMap(([name, pid]) => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      return [[name, Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024] as const]
    } catch {
      return []
    }
  })
  return Object.fromEntries(entries)
}

/** What processes have used between two readings: CPU of that time, memory as of the second. */
export function usageBetween(
  before: ReadonlyMap<string, Usage>,
  after: ReadonlyMap<string, Usage>,
): Map<string, Usage> {
  const between = new Map<string, Usage>()
  for (const [name, { cpuSeconds, peakMegabytes }] of after) {
    const earlier = before.get(name)?.cpuSeconds ?? 0
    between.set(name, { cpuSeconds: Math.max(0, cpuSeconds - earlier), peakMegabytes })
  }
  return between
}

/** Makes the kernel forget the peaks so far, where it lets us. */
export function resetPeaks(pids: Pids): void {
  for (const pid of Object.values(pids)) {
    try {
      writeFileSync(`/proc/${pid}/clear_refs`, '5')
    } catch {
      // Then the peak is that of the whole life.
    }
  }
}
