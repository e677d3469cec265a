import { describe, expect, test } from 'vitest'
import type { DupeFilter, Seen } from '../ports/dupefilter.ts'
import { storeTrouble } from '../redis/store-trouble.ts'
import { Request } from '../requests/request.ts'
import { completeDupeFilter } from './complete-dupefilter.ts'

const request = new Request('https://example.com/')
const away = async (): Promise<never> => {
  throw new Error('LOADING Redis is loading the dataset in memory')
}

test.each([
  ['requestSeen', () => completeDupeFilter({ requestSeen: away }).requestsSeen([request], 'page')],
  [
    'requestsSeen',
    () => completeDupeFilter({ requestSeen: away, requestsSeen: away }).requestsSeen([request], 'page'),
  ],
  ['joined', () => completeDupeFilter({ requestSeen: away, joined: away }).joined!(false)],
  ['forget', () => completeDupeFilter({ requestSeen: away, forget: away }).forget!(request)],
  ['givenBack', () => completeDupeFilter({ requestSeen: away, givenBack: away }).givenBack!('page')],
  ['crawlEnded', () => completeDupeFilter({ requestSeen: away, crawlEnded: away }).crawlEnded!()],
  ['has', () => completeDupeFilter({ requestSeen: away, has: away }).has!(request)],
])(
  'a Redis that is away under %s of a filter of one’s own is waited for, as under one of ours',
  async (_, ask) => {
    const failed = await ask().then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(storeTrouble(failed)).toBe('passing')
  },
)

test('its own errors are its own', async () => {
  const broken = new TypeError('undefined is not a function')
  const filter = completeDupeFilter({
    requestSeen: () => {
      throw broken
    },
  })
  await expect(filter.requestSeen(request)).rejects.toBe(broken)
})

test('only a filter of one’s own that knows who asks is asked about nothing', async () => {
  const asked: unknown[] = []
  const requestSeen = async ({ url }: Request) => {
    asked.push(url)
    return false
  }
  const requestsSeen = async (requests: readonly Request[]) => {
    asked.push(requests.length)
    return requests.map(() => false)
  }
  const least = completeDupeFilter({ requestSeen })
  const batched = completeDupeFilter({ requestSeen, requestsSeen })
  expect(await least.requestsSeen([], 'page 1')).toEqual([])
  expect(await batched.requestsSeen([], 'page 1')).toEqual([])
  expect(asked).toEqual([])
  expect(await least.requestsSeen([request], 'page 1')).toEqual([false])
  expect(await batched.requestsSeen([request], 'page 1')).toEqual([false])
  const whole = completeDupeFilter({ requestSeen, requestsSeen, settled: async () => {} })
  expect(await whole.requestsSeen([], 'page 1')).toEqual([])
  expect(asked).toEqual([request.url, 1, 0])
})

test('nothing that a filter of one’s own has is left out, and nothing is put to it', async () => {
  const called: string[] = []
  const noted =
    <Answer>(name: string, answer: Answer) =>
    async () => {
      called.push(name)
      return answer
    }
  const description = { name: 'own', fingerprinter: 'own', count: 3, owners: true }
  const own: Required<DupeFilter> = {
    open: noted('open', undefined),
    close: noted('close', undefined),
    clear: noted('clear', undefined),
    requestSeen: noted('requestSeen', true),
    requestsSeen: noted('requestsSeen', ['in doubt' as const]),
    settled: noted('settled', undefined),
    givenBack: noted('givenBack', undefined),
    mayBeOutdated: () => called.push('mayBeOutdated') > 0,
    keepUnsettled: () => () => void called.push('keepUnsettled'),
    unsettled: noted('unsettled', undefined),
    place: noted('place', 'here'),
    joined: noted('joined', undefined),
    crawlLost: noted('crawlLost', undefined),
    knowsLostCrawl: noted('knowsLostCrawl', true),
    crawlsBesides: noted('crawlsBesides', ['{other}']),
    crawlEnded: noted('crawlEnded', undefined),
    describe: noted('describe', description),
    forget: noted('forget', undefined),
    has: noted('has', true),
    exists: noted('exists', false),
    memoryBytes: noted('memoryBytes', 7),
    letsAllPass: true,
  }
  const filter = completeDupeFilter(own) as Required<DupeFilter>
  expect(Object.keys(filter).toSorted()).toEqual(Object.keys(own).toSorted())
  await filter.open()
  expect(await filter.place()).toBe('here')
  await filter.joined(true)
  expect(await filter.exists()).toBe(false)
  expect(await filter.requestSeen(request)).toBe(true)
  expect(await filter.requestsSeen([request], 'page')).toEqual(['in doubt'])
  expect(await filter.has(request)).toBe(true)
  expect(await filter.describe()).toEqual(description)
  expect(await filter.memoryBytes()).toBe(7)
  await filter.settled('page')
  await filter.givenBack('page')
  filter.mayBeOutdated('page')
  filter.keepUnsettled('page')()
  await filter.unsettled(['page'])
  await filter.forget(request)
  await filter.crawlLost()
  expect(await filter.knowsLostCrawl()).toBe(true)
  expect(await filter.crawlsBesides('{own}')).toEqual(['{other}'])
  await filter.crawlEnded()
  await filter.clear()
  await filter.close()
  expect(filter.letsAllPass).toBe(true)
  expect(called.toSorted()).toEqual(
    Object.keys(own)
      .filter((name) => name !== 'letsAllPass')
      .toSorted(),
  )
  const least = completeDupeFilter({ requestSeen: own.requestSeen })
  expect(least.forget ?? least.has ?? least.exists ?? least.givenBack ?? least.letsAllPass).toBeUndefined()
})

describe('an answer that is none of the port’s is refused with the filter’s name, and guessed at nowhere', () => {
  class Books {
    readonly #answer: unknown
    constructor(answer: unknown) {
      this.#answer = answer
    }
    async requestSeen(): Promise<boolean> {
      return this.#answer as boolean
    }
  }
  class Batches extends Books {
    readonly #answers: unknown
    constructor(answers: unknown) {
      super(false)
      this.#answers = answers
    }
    async requestsSeen(): Promise<Seen[]> {
      return this.#answers as Seen[]
    }
  }
  class Askers extends Batches {
    async settled(): Promise<void> {}
  }

  test.each([
    [1, '1 (a number)'],
    [0, '0 (a number)'],
    [null, 'null'],
    ['in doubt', '"in doubt" (a string)'],
    [undefined, 'undefined (is a return missing?)'],
  ])('requestSeen: %o', async (answer, shown) => {
    const filter = completeDupeFilter(new Books(answer))
    const refused = {
      code: 'WL_COMPONENT_ANSWER',
      message: `the dupefilter Books answered requestSeen with ${shown} for <GET https://example.com/>; expected true (it was seen before) or false (it is new)`,
    }
    await expect(filter.requestSeen(request)).rejects.toMatchObject(refused)
    await expect(filter.requestsSeen([request], 'page')).rejects.toMatchObject(refused)
  })

  test.each([
    [undefined, /^the dupefilter Batches answered requestsSeen with undefined \(is a return missing\?\)/],
    [[false], /with an array of 1; expected an array of 2, an answer for each request$/],
    [[false, 1], /with 1 \(a number\) for .*; expected true/],
    [[false, 'in doubt'], /; only a filter that has settled\(asker\) may say so$/],
  ])('requestsSeen: %o', async (answers, message) => {
    const refused = completeDupeFilter(new Batches(answers)).requestsSeen([request, request], 'page')
    await expect(refused).rejects.toThrow(message)
  })

  test('one that knows askers may be in doubt', async () => {
    const filter = completeDupeFilter(new Askers(['in doubt', true]))
    expect(await filter.requestsSeen([request, request], 'page')).toEqual(['in doubt', true])
  })
})

test('one that cannot be opened is named, with its setting and what it threw', async () => {
  class Table {
    open() {
      throw new Error('no disk')
    }
    async requestSeen() {
      return false
    }
  }
  await expect(completeDupeFilter(new Table() as never).open()).rejects.toMatchObject({
    code: 'WL_COMPONENT_LOAD',
    message: 'the dupefilter Table (DUPEFILTER_CLASS) could not be opened: open threw Error: no disk',
  })
})
