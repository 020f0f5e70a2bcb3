import { setTimeout as sleep } from 'node:timers/promises'
import type { Installation } from '../harness/installation.ts'
import { type Bed, setClock } from './bed.ts'
import { emptyFolder } from './full-disk.ts'
import type { ApiName, Fault, PlannedFault, RoleName } from './plan.ts'

/** Begins a planned fault and ends it when its time is over. */
export async function inject(bed: Bed, planned: PlannedFault): Promise<void> {
  const end = await begin(bed, planned.fault)
  if (end === undefined) return
  await sleep(planned.lastsMs)
  await end()
}

async function begin(bed: Bed, fault: Fault): Promise<(() => unknown) | undefined> {
  const { keeper } = bed
  switch (fault.kind) {
    case 'kill':
      return beginKill(bed, fault.process, fault.rival)
    case 'pause': {
      if (isApi(fault.process)) {
        const api = bed.apis[fault.process]
        api.signal('SIGSTOP')
        return () => api.signal('SIGCONT')
      }
      const pid = keeper.pidOf(fault.process, { rival: fault.rival })
      if (pid === undefined) return undefined
      send(pid, 'SIGSTOP')
      return () => send(pid, 'SIGCONT')
    }
    case 'disk-full': {
      const { disk } = bed
      if (typeof disk === 'string') return undefined
      disk.fill()
      return () => disk.relieve()
    }
    case 'store-lost':
      return beginStoreLost(bed)
    case 'proxy':
      return bed.proxies[fault.cluster]?.begin(fault.fault)
    case 'token':
      bed.proxies[fault.cluster]?.rotateToken()
      return undefined
    case 'certificate':
      bed.proxies[fault.cluster]?.rotateCertificate()
      return undefined
    case 'clock':
      return beginClock(bed, fault)
  }
}

/** A process that is started while the clock is wrong keeps it; the next one has the right one again. */
async function beginClock(
  bed: Bed,
  { role, offsetMs }: Fault & { kind: 'clock' },
): Promise<(() => unknown) | undefined> {
  const { keeper } = bed
  await keeper.running()
  const process = keeper.pidOf(role) === keeper.pidOf('up') ? 'cli' : role
  const set = async (offset: number): Promise<void> => {
    setClock(bed, process, offset)
    await beginKill(bed, role, false)
  }
  await set(offsetMs)
  return () => set(0)
}

async function beginKill(
  bed: Bed,
  process: RoleName | 'nats' | ApiName | 'all',
  rival: boolean,
): Promise<(() => unknown) | undefined> {
  const { keeper } = bed
  if (isApi(process)) {
    const api = bed.apis[process]
    await api.kill()
    return () => api.start()
  }
  if (process === 'all') {
    await keeper.replace(async (up) => {
      // The supervisor first, so that it starts nothing again.
      for (const pid of Object.values(up.pids())) send(pid, 'SIGKILL')
      await up.kill()
    })
    return undefined
  }
  const pid = keeper.pidOf(process, { rival })
  if (pid !== undefined) send(pid, 'SIGKILL')
  return undefined
}

/** The store goes while its server is down; what runs goes on without, until somebody starts all of it again. */
async function beginStoreLost(bed: Bed): Promise<(() => unknown) | undefined> {
  const { keeper } = bed
  await keeper.running()
  const supervisor = keeper.pidOf('up')
  const nats = keeper.pidOf('nats')
  if (supervisor === undefined || nats === undefined) return undefined
  send(supervisor, 'SIGSTOP')
  send(nats, 'SIGKILL')
  emptyFolder(bed.storeFolder)
  send(supervisor, 'SIGCONT')
  return () => keeper.replace(stopInOrder)
}

/** @throws Error when it had to be killed */
async function stopInOrder(up: Installation): Promise<void> {
  const { signal } = await up.stop()
  await up.kill()
  if (signal !== null) throw new Error(`up did not end when it was asked to (${signal})`)
}

function isApi(process: string): process is ApiName {
  return process === 'host' || process === 'tenants'
}

function send(pid: number, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}
