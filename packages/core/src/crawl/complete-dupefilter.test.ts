import { expect, test } from 'vitest'
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

test('a filter of one’s own is not asked about nothing, whatever it has', async () => {
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
  const whole = completeDupeFilter({ requestSeen, requestsSeen, settled: async () => {} })
  expect(await least.requestsSeen([], 'page 1')).toEqual([])
  expect(await whole.requestsSeen([], 'page 1')).toEqual([])
  expect(asked).toEqual([])
  expect(await least.requestsSeen([request], 'page 1')).toEqual([false])
  expect(await whole.requestsSeen([request], 'page 1')).toEqual([false])
  expect(asked).toEqual([request.url, 1])
})
