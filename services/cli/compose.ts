/**
 * The composition root: the one place that knows all services. Services never import one another; here their roles are
 * put into one process, as `causeway up` does by default. See test/architecture.test.ts.
 */
import type { Role, RoleContext } from '#libs/runtime'
import { startConsole } from '../console/role.ts'
import { startSimulatedNodes } from '../simulated-nodes/role.ts'
import { startTranslator } from '../translator/role.ts'
import { startWatcher } from '../watcher/role.ts'
import { startWriter } from '../writer/role.ts'

/** The pipeline's roles, in the order in which a change passes them. */
export const PIPELINE_ROLES = {
  watcher: startWatcher,
  translator: startTranslator,
  writer: startWriter,
} as const satisfies Record<string, (context: RoleContext) => Promise<Role>>

export type PipelineRole = keyof typeof PIPELINE_ROLES

/** Starts the whole pipeline in this process, last stage first, so that nothing waits for a reader. */
export async function startPipeline(context: RoleContext): Promise<Role[]> {
  const roles: Role[] = []
  for (const start of Object.values(PIPELINE_ROLES).toReversed()) roles.push(await start(context))
  return roles
}

export { startConsole, startSimulatedNodes }
