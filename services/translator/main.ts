import { runPipelineService } from '#libs/runtime'
import { startTranslator } from './role.ts'

await runPipelineService('translator', async (context) => [await startTranslator(context)])
