import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Tests read our packages from their sources; only tests that start processes use the built ones.
  resolve: { conditions: ['webloom-source'] },
  ssr: {
    resolve: { conditions: ['webloom-source', 'node'], externalConditions: ['webloom-source', 'node'] },
  },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'tests/**/*.test.ts', 'examples/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/fixtures/**', '**/*.soak.test.ts'],
    globalSetup: ['tests/setup/redis.ts'],
    // Tests count what the fake web was asked for; those about robots.txt turn it on. Its hosts lead to one another, and
    // all are on loopback: tests about that turn the guard on by an empty list.
    env: {
      WEBLOOM_ROBOTSTXT_OBEY: 'false',
      WEBLOOM_PRIVATE_ADDRESSES_ALLOWED: '127.0.0.0/8,::1',
      // Tests start some hundred processes of the same code: what one has compiled the next one reads.
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/webloom-tests'),
    },
    maxWorkers: 2,
    // Real processes and clocks on cores that others share: what fails is tried once more, and shown as retried.
    retry: 1,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
