import assert from 'node:assert/strict'
import type { DupeFilter } from '../ports/dupefilter.ts'
import { Request } from '../request.ts'
import { type ContractTests, type Implementation, runContract, type TestRunner } from './suite.ts'

const page = (n: number) => new Request(`https://example.com/page/${n}`)
const pages = (...numbers: number[]) => numbers.map(page)

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
  'a batch is answered in order': async (filter) => {
    await filter.requestSeen(page(2))
    assert.deepEqual(await filter.requestsSeen(pages(1, 2, 3), 'owner'), [false, true, false])
  },
  'a request given twice in one batch is new only once': async (filter) => {
    assert.deepEqual(await filter.requestsSeen(pages(1, 1, 2), 'owner'), [false, true, false])
  },
  'an empty batch has an empty answer': async (filter) => {
    assert.deepEqual(await filter.requestsSeen([], 'owner'), [])
  },
  'the owner who was told "new" is told so again until it is settled': async (filter) => {
    assert.deepEqual(await filter.requestsSeen(pages(1, 2), 'owner'), [false, false])
    assert.deepEqual(await filter.requestsSeen(pages(1, 2, 3), 'owner'), [false, false, false])
  },
  'nobody else is told "new" for what an owner holds': async (filter) => {
    await filter.requestsSeen(pages(1), 'first')
    assert.deepEqual(await filter.requestsSeen(pages(1), 'second'), [true])
    assert.equal(await filter.requestSeen(page(1)), true)
  },
  'once settled, a request is seen for everybody else': async (filter) => {
    await filter.requestsSeen(pages(1), 'first')
    await filter.settled('first')
    assert.deepEqual(await filter.requestsSeen(pages(1), 'second'), [true])
  },
  'settling an owner who asked nothing is harmless': async (filter) => {
    await filter.settled('nobody')
  },
  'two owners asking about the same requests at once: exactly one is told each is new': async (filter) => {
    const numbers = Array.from({ length: 500 }, (_, n) => n)
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((owner) => filter.requestsSeen(pages(...numbers), owner)),
    )
    for (const n of numbers) {
      assert.equal(answers.filter((seen) => seen[n] === false).length, 1, `page ${n}`)
    }
  },
  'clear forgets every request': async (filter) => {
    await filter.requestsSeen(pages(1, 2), 'owner')
    await filter.clear()
    assert.deepEqual(await filter.requestsSeen(pages(1, 2), 'other'), [false, false])
  },
  'describe counts what is recorded': async (filter) => {
    await filter.requestsSeen(pages(1, 2, 2), 'owner')
    const { name, count, fingerprinter } = await filter.describe()
    assert.equal(count, 2)
    assert.ok(name.length > 0 && fingerprinter.length > 0)
  },
}

/** Every DupeFilter runs this; a user's own too. */
export function dupeFilterContract(runner: TestRunner, implementation: Implementation<DupeFilter>): void {
  runContract(runner, 'DupeFilter', TESTS, implementation)
}
