import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { CloseStack } from '#libs/runtime'
import { type BurstRun, burstInTenants } from './burst.ts'
import { type Field, openField } from './field.ts'
import { type Installation, startInstallation } from './installation.ts'
import type { BenchOptions } from './options.ts'
import type { Pairs } from './pairs.ts'
import { median } from './statistics.ts'
import { type Cell, table } from './table.ts'

/** As a Prometheus that looks often has it. */
const SCRAPE_EVERY_MS = 5_000

const SEEN = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' }
const UNSEEN = {
  OTEL_SDK_DISABLED: 'true',
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('without-metrics.ts', import.meta.url))}`,
}

type Place = { installation: Installation; field: Field }

/**
 * The same bursts in two installations side by side, in turn: in one traces are sampled at 1 % and sent, and metrics
 * counted and scraped; the other does neither. The first of a pair changes, as it leaves the machine warm for the second.
 */
export async function seeing(
  options: BenchOptions,
  of: { pods: number; repeat: number; progress: (line: string) => void },
): Promise<{ runs: Pairs<BurstRun>; own: readonly string[]; received: number }> {
  const { pods, repeat, progress } = of
  const stack = new CloseStack()
  try {
    const sink = await openSink()
    stack.push(() => sink.close())
    const start = (env: Record<string, string>): Promise<Place> => openPlace(stack, options, { pods, env })
    progress('starting two installations')
    const places = {
      baseline: await start(UNSEEN),
      product: await start({ ...SEEN, OTEL_EXPORTER_OTLP_ENDPOINT: sink.url }),
    }
    stack.push(scrape(places.product.installation.healthUrls))
    const burst = async ({ installation, field }: Place, count: number): Promise<BurstRun> => {
      const run = await burstInTenants(installation, field, { tenants: 1, pods: count })
      await field.clear()
      return run
    }
    progress('warming up')
    for (const place of Object.values(places)) await burst(place, options.warmupPods)
    const runs: Pairs<BurstRun> = { pods, unit: 'pod', baseline: [], product: [] }
    for (let run = 1; run <= repeat; run++) {
      progress(`${run}/${repeat}`)
      const order = run % 2 === 1 ? (['baseline', 'product'] as const) : (['product', 'baseline'] as const)
      for (const kind of order) runs[kind].push(await burst(places[kind], pods))
    }
    return { runs, own: places.product.installation.ownNames, received: sink.received() }
  } finally {
    await stack.close()
  }
}

export function reportSeeing({ runs, own, received }: Awaited<ReturnType<typeof seeing>>): string {
  const cpu = ({ cost }: BurstRun): number =>
    (own.reduce((sum, name) => sum + (cost.usage.get(name)?.cpuSeconds ?? 0), 0) * 1_000) / runs.pods
  const rows = (name: string, figure: (run: BurstRun) => number): Cell[] => {
    const [unseen, seen] = [runs.baseline.map(figure), runs.product.map(figure)]
    const ratios = seen.map((value, index) => value / (unseen[index] ?? value))
    return [name, median(unseen), median(seen), median(ratios), Math.min(...ratios), Math.max(...ratios)]
  }
  const figures = table(
    ['', 'unseen', 'seen', 'times', 'least', 'most'],
    [rows('until all run, s', ({ seconds }) => seconds), rows('ours and NATS, CPU ms per pod', cpu)],
  )
  return `${figures}\n\n${received} requests with spans`
}

async function openPlace(
  stack: CloseStack,
  options: BenchOptions,
  setup: { pods: number; env: Record<string, string> },
): Promise<Place> {
  const installation = await startInstallation(
    { ...options, tenants: [], hostKubeconfig: undefined },
    { embedded: 1, ...setup },
  )
  stack.push(() => installation.close())
  const field = await openField(installation)
  stack.push(() => field.close())
  return { installation, field }
}

/** Takes spans and forgets them. */
async function openSink(): Promise<{ url: string; received(): number; close(): Promise<void> }> {
  let received = 0
  const server = createServer((request, response) => {
    received++
    request.resume().once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: () => received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Reads metrics now and then. @returns what ends that */
function scrape(urls: readonly string[]): () => Promise<void> {
  const read = (url: string): Promise<unknown> => fetch(`${url}/metrics`).then((answer) => answer.text())
  let reading: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    reading = Promise.allSettled(urls.map(read))
  }, SCRAPE_EVERY_MS)
  return async () => {
    clearInterval(timer)
    await reading
  }
}
