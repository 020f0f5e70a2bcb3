import { ConfigError, jsonEqual } from '#libs/kernel'
import { readTenantConfig } from '../config/read-config.ts'
import { checkPlacement } from '../up/register.ts'
import { type CommandOptions, withRunning } from './running.ts'

/**
 * Gives a tenant that is served another configuration, in place of the one it has. It takes effect at once.
 * @throws ConfigError with all that is wrong with the file, or when there is no such tenant
 */
export async function configureTenant(options: CommandOptions & { name: string; config: string }): Promise<number> {
  const { name, terminal, json } = options
  const { config, notices } = readTenantConfig(options.config)
  for (const notice of notices) terminal.progress(notice)
  return withRunning(options, async ({ registry }) => {
    const entry = await registry.get(name)
    if (entry === undefined)
      throw new ConfigError([`no tenant "${name}": "causeway tenant list" shows those there are`])
    checkPlacement(entry, config)
    const changed = !jsonEqual(entry.config ?? {}, config)
    if (changed) await registry.put({ ...entry, config })
    if (json) terminal.print(JSON.stringify({ name, changed }))
    else terminal.print(changed ? `tenant ${name} is configured` : `tenant ${name} has this configuration already`)
    return 0
  })
}
