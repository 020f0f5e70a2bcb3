import { runPipelineService } from '#libs/runtime'
import { startWriter } from './role.ts'

await runPipelineService('writer', async (context) => [await startWriter(context)])
