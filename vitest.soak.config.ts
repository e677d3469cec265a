import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

/** The long tests: `npm run soak`. */
export default mergeConfig(
  base,
  defineConfig({
    test: { include: ['tests/**/*.soak.test.ts'], exclude: ['**/node_modules/**'], testTimeout: 1_800_000 },
  }),
)
