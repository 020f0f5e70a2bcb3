import { defineConfig } from 'vitest/config'

/** How long a test waits for what is to come: a loaded machine is slow, and a test that waits in vain fails anyway. */
const poll = { interval: 20, timeout: 30_000 }

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'libs/**/*.test.ts',
            'services/**/*.test.ts',
            'test/*.test.ts',
            'test/bench/**/*.test.ts',
            'test/faults/**/*.test.ts',
            'test/contract/**/*.contract.test.ts',
          ],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.integration.test.ts'],
          fileParallelism: false,
          expect: { poll },
          testTimeout: 90_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.e2e.test.ts'],
          fileParallelism: false,
          expect: { poll },
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
