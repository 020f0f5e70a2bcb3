import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { LATENCY_BUCKETS, type MetricDeclaration } from './names.ts'

/** A registry with the process's own metrics (CPU, memory, event loop). Roles add theirs to it. */
export function createRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}

/** A counter in the registry, made on first use: roles in one process share it. */
export function counter(registry: Registry, metric: MetricDeclaration): Counter {
  const existing = registry.getSingleMetric(metric.name)
  if (existing instanceof Counter) return existing
  return new Counter({
    registers: [registry],
    name: metric.name,
    help: metric.help,
    labelNames: [...(metric.labels ?? [])],
  })
}

/** A gauge in the registry, made on first use. */
export function gauge(registry: Registry, metric: MetricDeclaration): Gauge {
  const existing = registry.getSingleMetric(metric.name)
  if (existing instanceof Gauge) return existing
  return new Gauge({
    registers: [registry],
    name: metric.name,
    help: metric.help,
    labelNames: [...(metric.labels ?? [])],
  })
}

/** How many tenants have series of their own, in each process. */
const TOP_TENANTS = 20

/** Sets a gauge for the tenants with the highest numbers above 0; all others have no series. */
export function setTop(metric: Gauge, byTenant: ReadonlyMap<string, number>): void {
  metric.reset()
  const highest = [...byTenant].filter(([, count]) => count > 0).toSorted(([, a], [, b]) => b - a)
  for (const [tenant, count] of highest.slice(0, TOP_TENANTS)) metric.set({ tenant }, count)
}

/** A histogram of seconds in the registry, made on first use. */
export function histogram(registry: Registry, metric: MetricDeclaration): Histogram {
  const existing = registry.getSingleMetric(metric.name)
  if (existing instanceof Histogram) return existing
  return new Histogram({
    registers: [registry],
    name: metric.name,
    help: metric.help,
    labelNames: [...(metric.labels ?? [])],
    buckets: [...LATENCY_BUCKETS],
  })
}
