import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

/** The long tests: `npm run soak`. Not merged with the base, which would add up what they exclude. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['tests/**/*.soak.test.ts', 'packages/*/src/**/*.soak.test.ts'],
    exclude: ['**/node_modules/**'],
    retry: 0,
    testTimeout: 1_800_000,
  },
})
