export { LOG_LEVELS, parsePipelineConfig, pipelineEnv } from './pipeline-config.ts'
export type { PipelineConfig } from './pipeline-config.ts'
