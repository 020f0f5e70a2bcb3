import { parseArgs } from 'node:util'
import { FAULT_CLASSES, type FaultClass } from './plan.ts'

/** What `npm run faults` was asked for. */
export type FaultsOptions = {
  /** The first seed; without it, one that nobody chose. */
  seed: number | undefined
  /** How long to go on with further seeds; 0 plays one. */
  minutes: number
  tenants: number
  pods: number
  /** Of work and faults, after everything is made. */
  seconds: number
  classes: readonly FaultClass[]
  /** As it was given. */
  faults: string | undefined
  /** Without a choice, seeds take turns. */
  separate: boolean | undefined
  rivals: boolean | undefined
  convergeSeconds: number
  verbose: boolean
}

/** What `--help` says. */
export const USAGE = `npm run faults -- [options]

  --seed N          the schedule to play (default: one that nobody chose)
  --minutes N       go on with the seeds after it for so long (default 0: one)
  --tenants N       tenants (20)
  --pods N          pods, over all tenants (1000)
  --seconds N       how long work and faults go on, after everything is made (60)
  --faults A,B      only these faults, or none (default: all)
                    ${FAULT_CLASSES.join(', ')}
  --mode MODE       separate or one: processes of the pipeline (default: seeds take turns)
  --rivals yes|no   whether there are two of each service (default: seeds take turns)
  --converge N      seconds until both sides have to agree after the last fault (90)
  --verbose         every step
`

/** Reads the flags. @returns what is wrong with them, in words, where something is */
export function parseFaultsOptions(args: readonly string[]): FaultsOptions | string {
  const text = { type: 'string' } as const
  const flags = {
    seed: text,
    minutes: text,
    tenants: text,
    pods: text,
    seconds: text,
    faults: text,
    mode: text,
    rivals: text,
    converge: text,
    verbose: { type: 'boolean' },
  } as const
  try {
    const { values } = parseArgs({ args: [...args], options: flags })
    const whole = (
      name: 'seed' | 'minutes' | 'tenants' | 'pods' | 'seconds' | 'converge',
      fallback: number,
    ): number => {
      const value = Number(values[name] ?? fallback)
      if (!Number.isInteger(value) || value < 0) throw new Error(`--${name}: ${values[name]} is no whole number`)
      return value
    }
    const choice = (name: 'mode' | 'rivals', yes: string, no: string): boolean | undefined => {
      const value = values[name]
      if (value === undefined) return undefined
      if (value !== yes && value !== no) throw new Error(`--${name}: use ${yes} or ${no}`)
      return value === yes
    }
    const named = values.faults === 'none' ? [] : (values.faults?.split(',') ?? [...FAULT_CLASSES])
    const classes = FAULT_CLASSES.filter((name) => named.includes(name))
    const unknown = named.filter((name) => !(FAULT_CLASSES as readonly string[]).includes(name))
    if (unknown.length > 0) throw new Error(`--faults: no ${unknown.join(', ')}; there are ${FAULT_CLASSES.join(', ')}`)
    return {
      seed: values.seed === undefined ? undefined : whole('seed', 0),
      minutes: whole('minutes', 0),
      tenants: whole('tenants', 20),
      pods: whole('pods', 1_000),
      seconds: whole('seconds', 60),
      classes,
      faults: values.faults,
      separate: choice('mode', 'separate', 'one'),
      rivals: choice('rivals', 'yes', 'no'),
      convergeSeconds: whole('converge', 90),
      verbose: values.verbose === true,
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
