import { runPipelineService } from '#libs/runtime'
import { startWatcher } from './role.ts'

await runPipelineService('watcher', async (context) => [await startWatcher(context)])
