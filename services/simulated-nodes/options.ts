import { parseArgs } from 'node:util'
import { ConfigError, errorMessage } from '#libs/kernel'

/** What the command line says. */
export type CommandLine = { kubeconfigPath: string | undefined; nodes: number; latencyMs: number; jobRunMs: number }

/**
 * Reads the flags `--kubeconfig PATH`, `--nodes NUMBER` (default 3), `--latency-ms NUMBER` (default 0) and
 * `--job-run-ms NUMBER` (default 1000).
 * @throws ConfigError with every problem
 */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { kubeconfig, ...numbers } = parse(args)
  const problems: string[] = []
  const number = (flag: keyof typeof numbers, range: { fallback: number; min: number; max: number }): number => {
    const value = Number(numbers[flag] ?? range.fallback)
    if (Number.isInteger(value) && value >= range.min && value <= range.max) return value
    problems.push(`--${flag}: must be a whole number from ${String(range.min)} to ${String(range.max)}`)
    return range.fallback
  }
  const line: CommandLine = {
    kubeconfigPath: kubeconfig,
    nodes: number('nodes', { fallback: 3, min: 1, max: 4000 }),
    latencyMs: number('latency-ms', { fallback: 0, min: 0, max: 600_000 }),
    jobRunMs: number('job-run-ms', { fallback: 1000, min: 0, max: 86_400_000 }),
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return line
}

type Flags = { kubeconfig?: string; nodes?: string; 'latency-ms'?: string; 'job-run-ms'?: string }

function parse(args: readonly string[]): Flags {
  try {
    const text = { type: 'string' } as const
    const options = { kubeconfig: text, nodes: text, 'latency-ms': text, 'job-run-ms': text }
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new ConfigError([errorMessage(error)], { cause: error })
  }
}
