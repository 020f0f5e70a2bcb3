import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BOUNDED_SET } from '../faults/bounded-set.ts'
import { planSchedule } from '../faults/plan.ts'
import { play } from '../faults/play.ts'

/* A few schedules of the fault harness with fixed seeds; `npm run faults` plays as many more as one likes. */

test.each(BOUNDED_SET)(
  'both sides agree after $title',
  async (options) => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-faults-'))
    const told: string[] = []
    const { separate, rivals } = options
    const plan = planSchedule(options)
    const tell = (line: string): number => told.push(line)
    const { problems, figures, leftOut } = await play({ plan, folder, separate, rivals, convergeMs: 90_000, tell })
    expect(problems, `seed ${options.seed}, logs in ${folder}:\n${told.join('\n')}`).toEqual([])
    rmSync(folder, { recursive: true, force: true })
    process.stdout.write(
      `  ${options.title}: ${JSON.stringify(figures)}${leftOut.map((what) => `; left out: ${what}`).join('')}\n`,
    )
  },
  300_000,
)
