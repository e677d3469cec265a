import assert from 'node:assert/strict'
import type { DupeFilter, Seen } from '../ports/dupefilter.ts'
import { Request } from '../requests/request.ts'
import {
  type ContractTests,
  type Deviation,
  type Implementation,
  runContract,
  type TestRunner,
} from './suite.ts'

const page = (n: number) => new Request(`https://example.com/page/${n}`)
/** An asker queues neither what was seen nor what is in doubt. */
const isSeen = (answers: readonly Seen[]) => answers.map((answer) => answer !== false)
const pages = (...numbers: number[]) => numbers.map(page)

/** So long is waited for. Long enough for the few questions that come before it on a busy machine. */
const STALE_MS = 400
const NEVER_STALE_MS = 60_000

const NO_FORGET = 'it has no forget(): add ...withoutForget(reason) to the deviations'
const NO_GIVEN_BACK = 'it has no givenBack(): add ...withoutGivenBack(reason) to the deviations'
const NO_HAS = 'it has no has(): add ...withoutHas(reason) to the deviations'
const NO_SHARED = 'there is no createShared(): add ...withoutSharedStore(reason) to the deviations'

const ASKED_ALONE = 'whether a request was seen is told, and nothing is recorded by it'

const TESTS: ContractTests<DupeFilter> = {
  'a request is new once and seen ever after': async (filter) => {
    assert.equal(await filter.requestSeen(page(1)), false)
    assert.equal(await filter.requestSeen(page(1)), true)
    assert.equal(await filter.requestSeen(page(2)), false)
  },
  'requests that differ only in query order, fragment or default form are the same': async (filter) => {
    assert.equal(await filter.requestSeen(new Request('https://example.com/?b=2&a=1')), false)
    assert.equal(await filter.requestSeen(new Request('https://example.com?a=1&b=2#top')), true)
  },
  'method and body make a request another one': async (filter) => {
    const url = 'https://example.com/form'
    assert.equal(await filter.requestSeen(new Request(url)), false)
    assert.equal(await filter.requestSeen(new Request(url, { method: 'POST' })), false)
    assert.equal(await filter.requestSeen(new Request(url, { method: 'POST', body: 'a=1' })), false)
    assert.equal(await filter.requestSeen(new Request(url, { method: 'POST', body: 'a=1' })), true)
  },
  [ASKED_ALONE]: async (filter) => {
    assert.ok(filter.has, NO_HAS)
    assert.equal(await filter.has(page(1)), false)
    assert.equal(await filter.requestSeen(page(1)), false)
    assert.deepEqual([await filter.has(page(1)), await filter.has(page(2))], [true, false])
    await filter.requestsSeen(pages(2), 'asker')
    assert.equal(await filter.has(page(2)), true)
  },
  'a batch is answered in order': async (filter) => {
    await filter.requestSeen(page(2))
    assert.deepEqual(await filter.requestsSeen(pages(1, 2, 3), 'asker'), [false, true, false])
  },
  'a request given twice in one batch is new only once': async (filter) => {
    assert.deepEqual(await filter.requestsSeen(pages(1, 1, 2), 'asker'), [false, true, false])
  },
  'an empty batch has an empty answer': async (filter) => {
    assert.deepEqual(await filter.requestsSeen([], 'asker'), [])
  },
  'the asker who was told "new" is told so again until it is settled': async (filter) => {
    assert.deepEqual(await filter.requestsSeen(pages(1, 2), 'asker'), [false, false])
    assert.deepEqual(await filter.requestsSeen(pages(1, 2, 3), 'asker'), [false, false, false])
  },
  'nobody else is told "new" for what an asker holds': async (filter) => {
    await filter.requestsSeen(pages(1), 'first')
    assert.deepEqual(isSeen(await filter.requestsSeen(pages(1), 'second')), [true])
    assert.equal(await filter.requestSeen(page(1)), true)
  },
  'what an asker holds is in doubt for others until it is settled': async (filter) => {
    await filter.requestsSeen(pages(1, 2), 'first')
    assert.deepEqual(await filter.requestsSeen(pages(1, 2, 3), 'second'), ['in doubt', 'in doubt', false])
    await filter.settled('first')
    assert.deepEqual(await filter.requestsSeen(pages(1, 2), 'second'), [true, true])
  },
  'what was in doubt is new for whoever asks once its asker has given it back': async (filter) => {
    assert.ok(filter.givenBack, NO_GIVEN_BACK)
    await filter.requestsSeen(pages(1), 'page')
    assert.deepEqual(await filter.requestsSeen(pages(1), 'other'), ['in doubt'])
    await filter.givenBack('page')
    assert.deepEqual(await filter.requestsSeen(pages(1), 'doubt/1'), [false])
    await filter.settled('other')
    assert.deepEqual(await filter.requestsSeen(pages(1), 'third'), ['in doubt'])
    await filter.settled('doubt/1')
    assert.deepEqual(await filter.requestsSeen(pages(1), 'third'), [true])
  },
  'once settled, a request is seen for everybody else': async (filter) => {
    await filter.requestsSeen(pages(1), 'first')
    await filter.settled('first')
    assert.deepEqual(await filter.requestsSeen(pages(1), 'second'), [true])
  },
  'settling an asker who asked nothing is harmless': async (filter) => {
    await filter.settled('nobody')
  },
  'two askers asking about the same requests at once: exactly one is told each is new': async (filter) => {
    const numbers = Array.from({ length: 500 }, (_, n) => n)
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((asker) => filter.requestsSeen(pages(...numbers), asker)),
    )
    for (const n of numbers) {
      assert.equal(answers.filter((seen) => seen[n] === false).length, 1, `page ${n}`)
    }
  },
  'clear forgets every request': async (filter) => {
    await filter.requestsSeen(pages(1, 2), 'asker')
    await filter.clear()
    assert.deepEqual(await filter.requestsSeen(pages(1, 2), 'other'), [false, false])
  },
  'a forgotten request is new again, once, and no other is': async (filter) => {
    assert.ok(filter.forget, NO_FORGET)
    await filter.requestsSeen(pages(1, 2, 3), 'page')
    await filter.settled('page')
    await filter.forget(page(2))
    assert.deepEqual(await filter.requestsSeen(pages(1, 2, 3), 'other'), [true, false, true])
    assert.deepEqual(isSeen(await filter.requestsSeen(pages(2), 'third')), [true])
  },
  'forgetting what was never seen changes nothing': async (filter) => {
    assert.ok(filter.forget, NO_FORGET)
    await filter.requestSeen(page(1))
    await filter.forget(page(2))
    assert.deepEqual(await filter.requestsSeen(pages(1, 2), 'page'), [true, false])
  },
  'what an asker was told is new and then forgotten is the next asker’s, whatever that asker does': async (
    filter,
  ) => {
    assert.ok(filter.forget, NO_FORGET)
    await filter.requestsSeen(pages(1, 2), 'first')
    await filter.forget(page(1))
    assert.deepEqual(await filter.requestsSeen(pages(1), 'second'), [false])
    await filter.settled('first')
    assert.deepEqual(await filter.requestsSeen(pages(1), 'second'), [false])
    assert.deepEqual(isSeen(await filter.requestsSeen(pages(1, 2), 'third')), [true, true])
  },
  'what an asker was told is new and gives back is new for whoever asks next': async (filter) => {
    assert.ok(filter.givenBack, NO_GIVEN_BACK)
    await filter.requestsSeen(pages(1, 2), 'page')
    await filter.givenBack('page')
    assert.deepEqual(await filter.requestsSeen(pages(1), 'other'), [false])
    assert.deepEqual(await filter.requestsSeen(pages(3), 'page'), [false])
    await filter.settled('page')
    await filter.settled('other')
    assert.deepEqual(await filter.requestsSeen(pages(1, 2, 3), 'third'), [true, false, true])
  },
  'giving back nothing is harmless': async (filter) => {
    assert.ok(filter.givenBack, NO_GIVEN_BACK)
    await filter.givenBack('nobody')
    await filter.requestsSeen(pages(1), 'page')
    await filter.settled('page')
    await filter.givenBack('page')
    assert.deepEqual(await filter.requestsSeen(pages(1), 'other'), [true])
  },
  'describe counts what is recorded': async (filter) => {
    await filter.requestsSeen(pages(1, 2, 2), 'asker')
    const { name, count, fingerprinter } = await filter.describe()
    assert.equal(count, 2)
    assert.ok(name.length > 0 && fingerprinter.length > 0)
  },
}

/** One store, asked by two workers, whose askers go stale after `pendingStaleMs`. */
interface SharedFilter {
  readonly filter: DupeFilter
  readonly other: DupeFilter
  readonly pendingStaleMs: number
  /** Makes the queue one that was killed and has come back. Absent for a filter that does not ask about that. */
  queueComesBack?(): void
}

/** Their askers never go stale, however long a busy machine takes for a question. */
const SHARED_TESTS: ContractTests<SharedFilter> = {
  'two workers asking about the same requests at once: exactly one is told each is new': async (shared) => {
    const { filter, other } = shared
    const numbers = Array.from({ length: 700 }, (_, n) => n)
    const answers = await Promise.all([
      filter.requestsSeen(pages(...numbers), 'a'),
      other.requestsSeen(pages(...numbers), 'b'),
    ])
    for (const n of numbers) {
      assert.equal(answers.filter((seen) => seen[n] === false).length, 1, `page ${n}`)
    }
  },
  'whoever takes over a page is told the same, even though another worker asked': async ({
    filter,
    other,
  }) => {
    assert.deepEqual(await filter.requestsSeen(pages(1, 2), 'page'), [false, false])
    assert.deepEqual(await other.requestsSeen(pages(1, 2), 'page'), [false, false])
    assert.deepEqual(isSeen(await other.requestsSeen(pages(1, 2), 'another page')), [true, true])
  },
  'a settled asker is told "new" again, so that a queue may come back a little older': async (shared) => {
    await shared.filter.requestsSeen(pages(1, 2), 'page')
    await shared.filter.settled('page')
    assert.deepEqual(await shared.filter.requestsSeen(pages(1, 2), 'other'), [true, true])
    shared.queueComesBack?.()
    assert.deepEqual(await shared.other.requestsSeen(pages(1, 2), 'page'), [false, false])
  },
  'what a second run of a page no longer yields can be new again': async ({ filter, other }) => {
    await filter.requestsSeen(pages(1, 2), 'page')
    assert.deepEqual(await other.requestsSeen(pages(1, 3), 'page'), [false, false])
    await other.settled('page')
    assert.deepEqual(await other.requestsSeen(pages(1, 2, 3), 'x'), [true, false, true])
    assert.deepEqual(isSeen(await filter.requestsSeen(pages(2), 'y')), [true])
  },
  'an asker may ask in parts': async ({ filter, other }) => {
    await filter.requestsSeen(pages(1), 'page')
    await filter.requestsSeen(pages(2), 'page')
    await filter.settled('page')
    assert.deepEqual(await filter.requestsSeen(pages(1, 2), 'x'), [true, true])
    assert.deepEqual(await other.requestsSeen(pages(1, 2), 'y'), [true, true])
  },
}

/** Their askers go stale while a test waits. */
const STALE_TESTS: ContractTests<SharedFilter> = {
  'what an asker leaves unsettled goes to the next who asks, and to no second one': async (shared) => {
    const { filter, other, pendingStaleMs } = shared
    await filter.requestsSeen(pages(1), 'dead')
    assert.deepEqual(isSeen(await other.requestsSeen(pages(1), 'second')), [true])
    await wait(pendingStaleMs + 50)
    assert.deepEqual(await other.requestsSeen(pages(1), 'second'), [false])
    assert.deepEqual(isSeen(await filter.requestsSeen(pages(1), 'third')), [true])
    assert.deepEqual(isSeen(await filter.requestsSeen(pages(1), 'dead')), [true])
  },
  'what waits for its queue does not go stale; it does once it no longer waits': async (shared) => {
    const { filter, other, pendingStaleMs } = shared
    assert.ok(filter.keepUnsettled, 'its askers go stale, and it has no keepUnsettled()')
    await filter.requestsSeen(pages(1), 'waits')
    const end = filter.keepUnsettled('waits')
    await wait(2 * pendingStaleMs)
    assert.deepEqual(await other.requestsSeen(pages(1), 'second'), ['in doubt'])
    end()
    await wait(pendingStaleMs + 50)
    assert.deepEqual(await other.requestsSeen(pages(1), 'third'), [false])
  },
  'what was settled in time never goes stale': async ({ filter, other, pendingStaleMs }) => {
    await filter.requestsSeen(pages(1), 'page')
    await filter.settled('page')
    await filter.requestsSeen(pages(2), 'next page')
    await wait(pendingStaleMs + 50)
    assert.deepEqual(await other.requestsSeen(pages(1), 'other'), [true])
  },
  'settling twice, or late, changes nothing': async ({ filter, other, pendingStaleMs }) => {
    await filter.requestsSeen(pages(1), 'page')
    await wait(pendingStaleMs + 50)
    await filter.settled('page')
    await filter.settled('page')
    assert.deepEqual(await filter.requestsSeen(pages(2), 'x'), [false])
    assert.deepEqual(await other.requestsSeen(pages(1), 'y'), [true])
  },
}

/** Waits: only the store's clock tells that an asker is stale. */
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** The deviations of a filter that cannot forget. Duplicates are still found: `forget` is optional. */
export function withoutForget(reason: string): Deviation[] {
  return [
    'a forgotten request is new again, once, and no other is',
    'forgetting what was never seen changes nothing',
    'what an asker was told is new and then forgotten is the next asker’s, whatever that asker does',
  ].map((test) => ({ test, reason }))
}

/** The deviations of a filter without `givenBack`: links that a failed page was told are new stay that asker's. */
export function withoutGivenBack(reason: string): Deviation[] {
  return [
    'what was in doubt is new for whoever asks once its asker has given it back',
    'what an asker was told is new and gives back is new for whoever asks next',
    'giving back nothing is harmless',
  ].map((test) => ({ test, reason }))
}

/** The deviation of a filter that cannot tell of a request without recording it: `webloom host` and the dashboard cannot, either. */
export function withoutHas(reason: string): Deviation[] {
  return [{ test: ASKED_ALONE, reason }]
}

/** The deviation of a filter in memory: its store and its queue end together, so no worker ever takes over from another. */
export function withoutSharedStore(reason: string): Deviation[] {
  return [{ test: SHARED_STORE, reason }]
}

const SHARED_STORE = 'several workers share what it remembers'

/** What the suite needs of a filter that several workers share. */
export interface DupeFilterImplementation extends Implementation<DupeFilter> {
  /**
   * Opens two filters on one fresh store, as two workers do, whose askers go stale after `pendingStaleMs`: tests wait for as
   * long as the answer says. Absent where `withoutSharedStore` is among the deviations.
   */
  createShared?(pendingStaleMs: number): Promise<SharedFilter & { dispose(): Promise<void> }>
}

/** Every DupeFilter runs this; one of your own, too. */
export function dupeFilterContract(runner: TestRunner, implementation: DupeFilterImplementation): void {
  const { createShared } = implementation
  const tests = { ...TESTS, [SHARED_STORE]: async () => assert.ok(createShared, NO_SHARED) }
  runContract(runner, 'DupeFilter', tests, forTests(implementation, TESTS))
  if (!createShared) return
  const create = (pendingStaleMs: number) => async () => {
    const { dispose, ...subject } = await createShared(pendingStaleMs)
    return { subject, dispose }
  }
  runContract(runner, 'shared DupeFilter', SHARED_TESTS, {
    ...forTests(implementation, SHARED_TESTS),
    create: create(NEVER_STALE_MS),
  })
  runContract(runner, 'DupeFilter whose askers go stale', STALE_TESTS, {
    ...forTests(implementation, STALE_TESTS),
    create: create(STALE_MS),
  })
}

/** Picks the deviations of these tests. A deviation that is for none of the suites stays in the first, which refuses it. */
function forTests(
  { name, create, deviations = [] }: DupeFilterImplementation,
  tests: object,
): Implementation<DupeFilter> {
  const suiteOf = (test: string) => [SHARED_TESTS, STALE_TESTS].find((suite) => test in suite) ?? TESTS
  return { name, create, deviations: deviations.filter(({ test }) => suiteOf(test) === tests) }
}
