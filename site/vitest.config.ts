import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import base from '../vitest.config.ts'

/** Tests of the built site, in a browser: `npm run docs:test` after `npm run docs`. */
export default defineConfig({
  ...base,
  root: join(import.meta.dirname, '..'),
  test: {
    include: ['site/tests/**/*.test.ts'],
    globalSetup: ['tests/setup/chromium.ts'],
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // A page that loads on a busy machine.
    expect: { poll: { timeout: 30_000 } },
  },
})
