import assert from 'node:assert/strict'
import { type ItemFeed, WebloomError } from '@webloom/core'
import { type ContractTests, type Implementation, runContract, type TestRunner } from '@webloom/core/contract'

/** The feeds of one output, one for each run of a crawl, and what readers of that output have. */
export interface FeedUnderTest {
  /** A feed that is not yet open. With `overwrite` it is to replace what is there. */
  feed(options?: { readonly overwrite: boolean }): ItemFeed
  /** Every item in the output, in order. */
  items(): unknown[]
  /** From now on the output cannot be opened. */
  shut(): void
}

const numbered = (from: number, count: number) => Array.from({ length: count }, (_, n) => ({ n: from + n }))

const TESTS: ContractTests<FeedUnderTest> = {
  'what is written is in the output when it is closed, in order': async ({ feed, items }) => {
    const one = feed()
    await one.open()
    await one.write(numbered(0, 3))
    await one.write([])
    await one.write(numbered(3, 4))
    await one.close('finished')
    assert.deepEqual(items(), numbered(0, 7))
  },
  'pages that are written at the same moment: whole pages, in the order of the calls': async ({
    feed,
    items,
  }) => {
    const one = feed()
    await one.open()
    await Promise.all(Array.from({ length: 20 }, (_, page) => one.write(numbered(3 * page, 3))))
    await one.close('finished')
    assert.deepEqual(items(), numbered(0, 60))
  },
  'closing waits for what is being written': async ({ feed, items }) => {
    const one = feed()
    await one.open()
    const writing = one.write(numbered(0, 5))
    await one.close('finished')
    await writing
    assert.deepEqual(items(), numbered(0, 5))
  },
  'an item that cannot be written is lost alone': async ({ feed, items }) => {
    const circle: Record<string, unknown> = {}
    circle.again = circle
    const one = feed()
    await one.open()
    await one.write([{ n: 1 }, circle, { n: 2 }])
    await one.write([{ n: 3 }])
    await one.close('finished')
    assert.deepEqual(items(), numbered(1, 3))
  },
  'a crawl that does not start leaves what was there, which it was to replace': async ({ feed, items }) => {
    const [first, second] = [feed(), feed({ overwrite: true })]
    await first.open()
    await first.write(numbered(0, 2))
    await first.close('finished')
    await second.open()
    await second.close('not_opened')
    assert.deepEqual(items(), numbered(0, 2))
  },
  'closed twice, or never opened, it changes nothing': async ({ feed, items }) => {
    const one = feed()
    await one.open()
    await one.write(numbered(0, 2))
    await one.close('finished')
    await one.close('finished')
    await feed().close('finished')
    assert.deepEqual(items(), numbered(0, 2))
  },
  'an output that cannot be written is refused before anything is fetched, by its name': async ({
    feed,
    shut,
  }) => {
    shut()
    const one = feed()
    await assert.rejects(one.open(), (error) => {
      assert.ok(error instanceof WebloomError)
      assert.equal(error.code, 'WL_OUTPUT_UNWRITABLE')
      return true
    })
    await one.close('not_opened')
  },
}

/** Every ItemFeed runs this. */
export function itemFeedContract(runner: TestRunner, implementation: Implementation<FeedUnderTest>): void {
  runContract(runner, 'ItemFeed', TESTS, implementation)
}
