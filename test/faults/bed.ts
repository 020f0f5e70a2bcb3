import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Cluster, openCluster } from '../harness/cluster.ts'
import { startScript } from '../harness/process.ts'
import type { ApiObject, ApiRequest } from './api-request.ts'
import { type ApiServer, startApiServer } from './api-servers.ts'
import { plantForeign } from './foreign.ts'
import { type SmallDisk, mountSmallDisk } from './full-disk.ts'
import { type Keeper, startKeeper } from './keeper.ts'
import type { ApiName, Plan } from './plan.ts'
import { type Proxy, openProxy } from './proxy.ts'
import { createRandom } from './random.ts'
import { NAMESPACES } from './workload.ts'

/** Everything that a schedule is played on. */
export type Bed = {
  host: Cluster
  tenants: Record<string, Cluster>
  /** Every request of Causeway so far that is over. */
  requests: ApiRequest[]
  foreign: Map<string, ApiObject>
  keeper: Keeper
  apis: Record<ApiName, ApiServer>
  /** By tenant, and `host`. */
  proxies: Record<string, Proxy>
  /** The store of NATS. */
  storeFolder: string
  /** Why the disk cannot be filled, where it cannot. */
  disk: SmallDisk | string
  clockFolder: string
  close(): Promise<void>
}

export type BedOptions = {
  plan: Plan
  /** Of everything; made here, and removed by whoever asked for it. */
  folder: string
  separate: boolean
  rivals: boolean
  tell: (line: string) => void
}

const PODS_PER_NODE = 100

/** Starts API servers, proxies before them, nodes, what is somebody else's, and Causeway. */
export async function openBed(options: BedOptions): Promise<Bed> {
  const { plan, folder } = options
  const closers: (() => unknown)[] = []
  const close = async (): Promise<void> => {
    for (const step of closers.splice(0).toReversed()) await step()
  }
  try {
    return await openOn(options, { closers, close })
  } catch (error) {
    await close()
    throw new Error(`the bed for seed ${plan.options.seed} in ${folder} could not be made`, { cause: error })
  }
}

async function openOn(
  { plan, folder, separate, rivals, tell }: BedOptions,
  { closers, close }: { closers: (() => unknown)[]; close: () => Promise<void> },
): Promise<Bed> {
  const [hostApi, tenantsApi] = await Promise.all([
    startApiServer(join(folder, 'host'), ['host']),
    startApiServer(
      join(folder, 'tenants'),
      plan.tenants.map((tenant) => `${tenant}:open`),
    ),
  ])
  closers.push(
    () => hostApi.close(),
    () => tenantsApi.close(),
  )
  const upstream: Record<string, string> = { ...tenantsApi.kubeconfigs, ...hostApi.kubeconfigs }
  const host = await openCluster(upstream['host'] ?? '')
  closers.push(() => host.close())

  const nodes = String(Math.ceil((plan.options.pods * 1.5) / PODS_PER_NODE) + 1)
  const nodeArgs = ['--kubeconfig', upstream['host'] ?? '', '--nodes', nodes]
  const simulated = startScript('services/simulated-nodes/main.ts', nodeArgs)
  closers.push(() => simulated.end('SIGKILL'))
  await simulated.firstLine

  const requests: ApiRequest[] = []
  const proxies: Record<string, Proxy> = {}
  mkdirSync(join(folder, 'kubeconfigs'), { recursive: true })
  for (const cluster of ['host', ...plan.tenants]) {
    const random = createRandom(plan.options.seed).fork(`proxy ${cluster}`)
    proxies[cluster] = await openProxy({
      cluster,
      upstream: upstream[cluster] ?? '',
      kubeconfig: join(folder, 'kubeconfigs', `${cluster}.yaml`),
      random: () => random.next(),
      onRequest: (request) => requests.push(request),
    })
  }
  closers.push(() => Promise.all(Object.values(proxies).map((proxy) => proxy.close())))

  const tenants: Record<string, Cluster> = {}
  for (const tenant of plan.tenants) {
    const cluster = await openCluster(upstream[tenant] ?? '')
    closers.push(() => cluster.close())
    tenants[tenant] = cluster
    for (const name of NAMESPACES) await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  const foreign = await plantForeign(host, plan.tenants)

  const data = join(folder, 'causeway')
  const storeFolder = join(data, 'nats', 'jetstream')
  const needsDisk = plan.faults.some(({ fault }) => fault.kind === 'disk-full')
  const disk = needsDisk ? mountSmallDisk(storeFolder, 64 + plan.options.pods) : 'not asked for'
  if (typeof disk !== 'string') closers.push(() => disk.unmount())
  else if (needsDisk) tell(`disk-full is left out: ${disk}`)

  const clockFolder = join(folder, 'clocks')
  mkdirSync(clockFolder)
  const preload = pathToFileURL(join(import.meta.dirname, 'skewed-clock.ts')).href
  const needsClock = plan.faults.some(({ fault }) => fault.kind === 'clock')
  const clockEnv = { FAULTS_CLOCK_FOLDER: clockFolder, NODE_OPTIONS: `--import ${preload}` }
  const keeper = await startKeeper({
    data,
    separate,
    hostKubeconfig: proxies['host']?.kubeconfig ?? '',
    tenants: plan.tenants.map((tenant) => `${tenant}=${proxies[tenant]?.kubeconfig ?? ''}`),
    rivals,
    env: needsClock ? clockEnv : {},
    tell,
  })
  closers.push(() => keeper.close())
  return {
    host,
    tenants,
    requests,
    foreign,
    keeper,
    apis: { host: hostApi, tenants: tenantsApi },
    proxies,
    storeFolder,
    disk,
    clockFolder,
    close,
  }
}

/** Sets the clock of a role; 0 gives it the machine's. */
export function setClock(bed: Bed, role: string, offsetMs: number): void {
  const file = join(bed.clockFolder, role)
  if (offsetMs === 0) rmSync(file, { force: true })
  else writeFileSync(file, String(offsetMs))
}
