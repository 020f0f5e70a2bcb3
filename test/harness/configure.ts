import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Installation } from './installation.ts'

/** Gives a tenant another configuration while everything runs. @throws Error with what the command said */
export async function configure(up: Installation, tenant: string, config: object): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-config-'))
  try {
    const file = join(folder, 'config.yaml')
    writeFileSync(file, JSON.stringify(config))
    const { code, stdout, stderr } = await up.command('tenant', 'configure', tenant, '--config', file)
    if (code !== 0) throw new Error(`configuring ${tenant} ended with ${String(code)}: ${stdout}${stderr}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
