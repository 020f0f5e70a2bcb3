export { startTestNats } from './test-nats.ts'
export type { TestNats } from './test-nats.ts'
