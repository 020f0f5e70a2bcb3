export { DEFAULT_DELETION_LIMITS, LOG_LEVELS, parsePipelineConfig, pipelineEnv } from './pipeline-config.ts'
export type { DeletionLimits, PipelineConfig } from './pipeline-config.ts'
