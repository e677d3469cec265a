import { join } from 'node:path'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { LongestFirst } from './tests/setup/longest-first.ts'
import { PATIENCE_MS } from './tests/setup/patience-ms.ts'
import { processTests, sharingTests } from './tests/setup/process-tests.ts'

const TESTS = ['packages/*/src/**/*.test.ts', 'tests/**/*.test.ts', 'examples/**/*.test.ts']
const OTHERS = ['**/node_modules/**', '**/dist/**', '**/fixtures/**', '**/*.soak.test.ts']
const WORLDS = ['tests/world/**/*.test.ts']
const PROCESSES = processTests(TESTS).filter((path) => !path.startsWith('tests/world/'))
const SHARING = sharingTests(TESTS)

export default defineConfig({
  // Tests read our packages from their sources; only tests that start processes use the built ones.
  resolve: { conditions: ['webloom-source'] },
  ssr: {
    resolve: { conditions: ['webloom-source', 'node'], externalConditions: ['webloom-source', 'node'] },
  },
  test: {
    setupFiles: ['tests/setup/patience.ts'],
    expect: { poll: { timeout: PATIENCE_MS } },
    globalSetup: ['tests/setup/redis.ts', 'tests/setup/chromium.ts'],
    // Tests count what the fake web was asked for; those about robots.txt turn it on. Its hosts lead to one another, and
    // all are on loopback: tests about that turn the guard on by an empty list.
    env: {
      WEBLOOM_ROBOTSTXT_OBEY: 'false',
      WEBLOOM_PRIVATE_ADDRESSES_ALLOWED: '127.0.0.0/8,::1',
      // Tests start some hundred processes of the same code: what one has compiled the next one reads.
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/webloom-tests'),
    },
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // How soon something happens is what a test says itself; this only ends one that hangs, on a machine that is busy otherwise, too.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    projects: [
      {
        extends: true,
        // Alone, as what a lost lock allows is judged by the clock.
        test: {
          name: 'worlds',
          include: WORLDS,
          exclude: OTHERS,
          maxWorkers: 1,
          sequence: { groupOrder: 0 },
        },
      },
      ...twoProjects('processes', PROCESSES, [], {
        // Real processes and clocks on cores that others share: what fails is tried once more, and .ci/run prints it. Four
        // files at once, as most of their time is waiting, and three tests of each, which start three workers and more.
        retry: 1,
        // Those that start six servers and three workers take two minutes where others use the cores.
        testTimeout: 180_000,
        maxConcurrency: 3,
        maxWorkers: 4,
        sequence: { groupOrder: 1 },
      }),
      ...twoProjects('one process', TESTS, [...PROCESSES, ...WORLDS], {
        // Most wait for Redis, or for a lock to run out.
        maxWorkers: 6,
        sequence: { groupOrder: 2 },
      }),
    ],
  },
})

/**
 * Files whose tests can run one after the other in the same processes do: to start one for each, with what it imports, takes
 * longer than most of their tests. The others run before them.
 */
function twoProjects(
  name: string,
  files: readonly string[],
  others: readonly string[],
  test: TestProjectInlineConfiguration['test'],
): TestProjectInlineConfiguration[] {
  const exclude = [...OTHERS, ...others]
  const sharing = files === TESTS ? SHARING : SHARING.filter((path) => files.includes(path))
  return [
    {
      extends: true,
      test: { ...test, name: `${name}, alone`, include: [...files], exclude: [...exclude, ...SHARING] },
    },
    { extends: true, test: { ...test, name, include: sharing, exclude, isolate: false } },
  ]
}
