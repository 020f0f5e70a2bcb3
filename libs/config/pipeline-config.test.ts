import { expect, test } from 'vitest'
import { parsePipelineConfig, pipelineEnv } from './index.ts'

test('reports every problem at once, each by the name of its variable', () => {
  const env = { CAUSEWAY_NATS_URL: 'localhost', CAUSEWAY_PARTITIONS: '0', CAUSEWAY_NATS: 'x', PATH: '/bin' }
  expect(() => parsePipelineConfig(env)).toThrow(
    /CAUSEWAY_NATS: unknown setting[\s\S]*CAUSEWAY_NATS_URL: must be nats[\s\S]*CAUSEWAY_PARTITIONS:/,
  )
})

test('an empty variable counts as absent', () => {
  expect(parsePipelineConfig({ CAUSEWAY_PARTITIONS: '' }).partitions).toBe(8)
})

test('survives the way through another process’s environment', () => {
  const config = parsePipelineConfig({
    CAUSEWAY_HTTP_PORT: '8080',
    CAUSEWAY_LOG_LEVEL: 'debug',
    CAUSEWAY_INSTANCE: 'a',
  })
  expect(parsePipelineConfig({ ...pipelineEnv(config), CAUSEWAY_INSTANCE: 'a' })).toEqual(config)
})
