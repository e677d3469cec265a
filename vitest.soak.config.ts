import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

const { projects, ...shared } = base.test!

/** The long tests: `npm run soak`. Not merged with the base, which would add up what they exclude. */
export default defineConfig({
  ...base,
  test: {
    ...shared,
    include: ['tests/**/*.soak.test.ts', 'packages/*/src/**/*.soak.test.ts'],
    exclude: ['**/node_modules/**'],
    testTimeout: 1_800_000,
  },
})
