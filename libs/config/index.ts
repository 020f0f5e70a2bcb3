export {
  DEFAULT_DELETION_LIMITS,
  DEFAULT_TENANT_WINDOW,
  LOG_LEVELS,
  parsePipelineConfig,
  pipelineEnv,
} from './pipeline-config.ts'
export type { DeletionLimits, PipelineConfig } from './pipeline-config.ts'
