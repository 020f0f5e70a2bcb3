import { ConfigError } from '#libs/kernel'

/** How traces are sampled, in the words of OpenTelemetry's environment variables. */
export type Sampling = {
  /** Of a trace that begins: the share that is kept. */
  ratio: number
  /** Whether what the trace says itself goes before. */
  isParentBased: boolean
}

const SAMPLERS: Record<string, { isParentBased: boolean; ratio?: number }> = {
  always_on: { isParentBased: false, ratio: 1 },
  always_off: { isParentBased: false, ratio: 0 },
  traceidratio: { isParentBased: false },
  parentbased_always_on: { isParentBased: true, ratio: 1 },
  parentbased_always_off: { isParentBased: true, ratio: 0 },
  parentbased_traceidratio: { isParentBased: true },
}

/** Whether an endpoint is set that spans go to. The exporter itself reads which, and all that is about the way there. */
export function isTracingAsked(env: NodeJS.ProcessEnv): boolean {
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none') return false
  return Boolean(env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_ENDPOINT'])
}

/** @throws ConfigError for a sampler or a rate that is not known */
export function parseSampling(env: NodeJS.ProcessEnv): Sampling {
  const name = env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on'
  const sampler = SAMPLERS[name]
  if (sampler === undefined) {
    throw new ConfigError([`OTEL_TRACES_SAMPLER: ${name} is not known; known are ${Object.keys(SAMPLERS).join(', ')}`])
  }
  const ratio = sampler.ratio ?? Number(env['OTEL_TRACES_SAMPLER_ARG'] || '1')
  if (!(ratio >= 0 && ratio <= 1)) throw new ConfigError(['OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1'])
  return { ratio, isParentBased: sampler.isParentBased }
}
