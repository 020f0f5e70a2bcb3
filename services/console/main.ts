import { ConfigError } from '#libs/kernel'
import { runPipelineService } from '#libs/runtime'
import { parseCommandLine } from './options.ts'
import { startConsole } from './role.ts'

const NAME = 'console'

try {
  const options = parseCommandLine(process.argv.slice(2))
  await runPipelineService(NAME, async (context) => [await startConsole(context, options)])
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  for (const problem of error.problems) process.stderr.write(`${NAME}: ${problem}\n`)
  process.exitCode = 2
}
