import { defineConfig } from 'vitest/config'
import base from './vitest.config.ts'

const { projects, ...shared } = base.test!
const SOAKS = ['{tests,examples}/**/*.soak.test.ts', 'packages/*/src/**/*.soak.test.ts']
/** What they count or measure depends on how busy the machine is. */
const BY_THE_CLOCK = ['tests/politeness/cluster-politeness.soak.test.ts']
/** Alone, too: what a lost lock allows is judged by the clock. */
const WORLDS = ['tests/world/**/*.soak.test.ts']
const OTHERS = ['**/node_modules/**', '**/fixtures/**']

/** The long tests: `npm run soak`. Not merged with the base, which would add up what they exclude. */
export default defineConfig({
  ...base,
  test: {
    ...shared,
    testTimeout: 1_800_000,
    // A worker is a process as a user starts it; `npm test` has most of them run in some that stay. What tests have left out or made
    // smaller for `npm test` they do here.
    env: { ...shared.env, TESTS_OWN_PROCESSES: 'true', TESTS_IN_FULL: 'true' },
    projects: [
      {
        extends: true,
        test: {
          name: 'by the clock',
          include: BY_THE_CLOCK,
          exclude: OTHERS,
          maxWorkers: 1,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'worlds',
          include: WORLDS,
          exclude: OTHERS,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: SOAKS,
          exclude: [...OTHERS, ...BY_THE_CLOCK, ...WORLDS],
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
