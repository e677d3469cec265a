import { expect, test, vi } from 'vitest'
import { type ContractTests, type Deviation, runContract } from './suite.ts'

type Next = () => number

const BEGINS = 'it begins with 1'
const COUNTS = 'it counts'
const TESTS: ContractTests<Next> = {
  [BEGINS]: async (next) => expect(next()).toBe(1),
  [COUNTS]: async (next) => expect([next(), next()]).toEqual([1, 2]),
}

const counting = (): Next => {
  let n = 0
  return () => ++n
}
const ones = (): Next => () => 1
const reason = 'it knows no other number'

/** Each test of a run of the contract, with `passes` or the message of its error; and how many subjects were disposed of. */
async function ran(make: () => Next, deviations: readonly Deviation[] = [], tests = TESTS) {
  const bodies: [string, () => unknown][] = []
  const dispose = vi.fn(async () => {})
  runContract(
    {
      describe: (_name, body) => body(),
      test: (title, body) => bodies.push([title, body]),
    },
    'Counter',
    tests,
    { name: 'A counter', deviations, create: async () => ({ subject: make(), dispose }) },
  )
  const outcomes: Record<string, string> = {}
  for (const [title, body] of bodies) {
    outcomes[title] = await (async () => body())().then(
      () => 'passes',
      (error: Error) => error.message,
    )
  }
  return { outcomes, disposed: dispose.mock.calls.length }
}

const ALL_NAMED = 'each declared deviation names a test of the contract and its reason'

test('every test is run on a fresh subject, which is disposed of', async () => {
  expect(await ran(counting)).toEqual({
    outcomes: { [BEGINS]: 'passes', [COUNTS]: 'passes', [ALL_NAMED]: 'passes' },
    disposed: 2,
  })
  const { outcomes, disposed } = await ran(ones)
  expect([outcomes[BEGINS], disposed]).toEqual(['passes', 2])
  expect(outcomes[COUNTS]).toMatch(/expected \[ 1, 1 \]/)
})

test('a test with a declared deviation must fail: one that passes says that the deviation is stale', async () => {
  const deviations = [{ test: COUNTS, reason }]
  expect((await ran(ones, deviations)).outcomes[`deviates: ${COUNTS}`]).toBe('passes')
  const { outcomes, disposed } = await ran(counting, deviations)
  expect(outcomes[`deviates: ${COUNTS}`]).toBe(
    'the test passes by now: drop the deviation “it knows no other number”',
  )
  expect(disposed).toBe(2)
})

test('where chance decides, a test with a declared deviation may pass or fail', async () => {
  const deviations = [{ test: COUNTS, reason, isByChance: true as const }]
  for (const make of [ones, counting])
    expect((await ran(make, deviations)).outcomes[`deviates by chance: ${COUNTS}`]).toBe('passes')
})

test('a test with a declared deviation that does not end has not passed, and its subject is disposed of', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const tests: ContractTests<Next> = { [COUNTS]: () => new Promise(() => {}) }
    const running = ran(ones, [{ test: COUNTS, reason }], tests)
    await vi.advanceTimersByTimeAsync(5000)
    expect(await running).toMatchObject({ outcomes: { [`deviates: ${COUNTS}`]: 'passes' }, disposed: 1 })
  } finally {
    vi.useRealTimers()
  }
})

test('a deviation that names no test, or no reason, is stale', async () => {
  const { outcomes } = await ran(counting, [{ test: 'it sings', reason }])
  expect(outcomes[ALL_NAMED]).toMatch(/stale deviations: .*it sings/)
})
