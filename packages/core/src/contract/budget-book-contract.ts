import assert from 'node:assert/strict'
import type { BudgetAsk, BudgetBook, BudgetLimits } from '../ports/budget-book.ts'
import { type ContractTests, type Deviation, runContract, type TestRunner } from './suite.ts'

/** The book of one crawl, for two of its workers. In one process both may be one object. */
export interface SharedBudgetBook {
  readonly one: BudgetBook
  readonly other: BudgetBook
  /** Moves the book's clock on, to that second of 1970. */
  setClock(seconds: number): void
}

export interface BudgetBookImplementation {
  readonly name: string
  create(limits: BudgetLimits): Promise<SharedBudgetBook & { dispose(): Promise<void> }>
  readonly deviations?: readonly Deviation[]
}

type Subject = (limits: BudgetLimits) => Promise<SharedBudgetBook>

const page = (host: string, day = 'monday', bytes = 0): BudgetAsk => ({ host, day, pages: 1, bytes })
const besides = (host: string, bytes = 0, day = 'monday'): BudgetAsk => ({
  ...{ host, day, pages: 0, bytes },
  besidesPages: true,
})
const came = (host: string, bytes: number, day = 'monday'): BudgetAsk => ({ host, day, pages: 0, bytes })

/** `-` for a request that may leave, else what is spent. */
async function asked(book: BudgetBook, ...asks: BudgetAsk[]): Promise<string[]> {
  return (await book.spend(asks)).map((spent) => (spent ? `${spent.window} ${spent.kind}` : '-'))
}

const TESTS: ContractTests<Subject> = {
  'pages of a run: no more leave than there are, whoever asks': async (create) => {
    const { one, other } = await create({ crawl: { pages: 3 } })
    assert.deepEqual(await asked(one, page('a'), page('b')), ['-', '-'])
    assert.deepEqual(await asked(other, page('a'), page('a')), ['-', 'crawl pages'])
    assert.deepEqual(await asked(one, page('c', 'tuesday')), ['crawl pages'])
  },
  'two that ask at once: together they are given what there is': async (create) => {
    const { one, other } = await create({ day: { pages: 20 } })
    const asks = Array.from({ length: 15 }, () => page('a'))
    const answers = await Promise.all([asked(one, ...asks), asked(other, ...asks)])
    assert.equal(answers.flat().filter((answer) => answer === '-').length, 20)
  },
  'a day has its own, and so has each host': async (create) => {
    const { one, other } = await create({ day: { pages: 3 }, hostDay: { pages: 2 } })
    assert.deepEqual(await asked(one, page('a'), page('a'), page('a')), ['-', '-', 'hostDay pages'])
    assert.deepEqual(await asked(other, page('b'), page('b')), ['-', 'day pages'])
    assert.deepEqual(await asked(one, page('a', 'tuesday')), ['-'])
  },
  'each host of a run has its own': async (create) => {
    const { one, other } = await create({ host: { pages: 1 } })
    assert.deepEqual(await asked(one, page('a'), page('b')), ['-', '-'])
    assert.deepEqual(await asked(other, page('a', 'tuesday'), page('b')), ['host pages', 'host pages'])
  },
  'what is refused spends nothing of the other budgets': async (create) => {
    const { one } = await create({ crawl: { pages: 2 }, host: { pages: 1 } })
    assert.deepEqual(await asked(one, page('a'), page('a'), page('a'), page('b')), [
      '-',
      'host pages',
      'host pages',
      '-',
    ])
  },
  'bytes are spent when they have come, also without a page, and no request leaves when they are': async (
    create,
  ) => {
    const { one, other } = await create({ crawl: { bytes: 1000 }, host: { bytes: 600 } })
    assert.deepEqual(await asked(one, page('a'), came('a', 599)), ['-', '-'])
    assert.deepEqual(await asked(other, page('a'), came('a', 1), page('a')), ['-', '-', 'host bytes'])
    assert.deepEqual(await asked(one, page('b', 'monday', 400)), ['crawl bytes'])
  },
  'a request for no page spends no page and no minute, and does not leave when pages, bytes or minutes are spent':
    async (create) => {
      const { one, other } = await create({
        crawl: { pages: 3, minutes: 2 },
        host: { pages: 2, bytes: 600 },
      })
      assert.deepEqual(await asked(one, besides('a'), besides('a'), besides('a')), ['-', '-', '-'])
      assert.deepEqual(await asked(other, besides('a', 599), besides('a', 1)), ['-', 'host bytes'])
      assert.deepEqual(await asked(one, page('b'), page('b'), besides('b')), ['-', '-', 'host pages'])
      assert.deepEqual(await asked(other, besides('c'), page('c'), besides('c')), ['-', '-', 'crawl pages'])
      const hours = await create({ crawl: { minutes: 1 } })
      hours.setClock(600)
      assert.deepEqual(await asked(hours.one, besides('a'), page('a')), ['-', '-'])
      hours.setClock(660)
      assert.deepEqual(await asked(hours.other, besides('a')), ['crawl minutes'])
    },
  'minutes are those in which a request left': async (create) => {
    const { one, other, setClock } = await create({ crawl: { minutes: 2 } })
    setClock(600)
    assert.deepEqual(await asked(one, page('a'), page('a')), ['-', '-'])
    setClock(659)
    assert.deepEqual(await asked(other, page('a')), ['-'])
    // Nothing is asked for in the next hour.
    setClock(4260)
    assert.deepEqual(await asked(one, page('a'), page('b')), ['-', '-'])
    setClock(4320)
    assert.deepEqual(await asked(other, page('a')), ['crawl minutes'])
  },
  'minutes of a day, of a host and of a host’s day are counted apart': async (create) => {
    const { one, other, setClock } = await create({ day: { minutes: 3 }, host: { minutes: 2 } })
    for (const [minute, host] of ['a', 'a', 'b'].entries()) {
      setClock(60 * (10 + minute))
      assert.deepEqual(await asked(minute === 1 ? other : one, page(host)), ['-'])
    }
    assert.deepEqual(await asked(other, page('a')), ['host minutes'])
    setClock(60 * 13)
    assert.deepEqual(await asked(one, page('b'), page('b', 'tuesday')), ['day minutes', '-'])
    const days = await create({ hostDay: { minutes: 1 } })
    days.setClock(600)
    assert.deepEqual(await asked(days.one, page('a')), ['-'])
    days.setClock(660)
    assert.deepEqual(await asked(days.other, page('a'), page('b'), page('a', 'tuesday')), [
      'hostDay minutes',
      '-',
      '-',
    ])
  },
  'several that are spent: the widest is told': async (create) => {
    const { one } = await create({ crawl: { pages: 1 }, day: { pages: 1 }, host: { pages: 1 } })
    assert.deepEqual(await asked(one, page('a'), page('a')), ['-', 'crawl pages'])
  },
}

/** Every BudgetBook runs this. */
export function budgetBookContract(
  runner: TestRunner,
  { name, create, deviations }: BudgetBookImplementation,
): void {
  runContract<Subject>(runner, 'BudgetBook', TESTS, {
    name,
    ...(deviations && { deviations }),
    create: async () => {
      const made: { dispose(): Promise<void> }[] = []
      return {
        subject: async (limits) => {
          const book = await create(limits)
          made.push(book)
          return book
        },
        dispose: async () => {
          for (const book of made) await book.dispose()
        },
      }
    },
  })
}
