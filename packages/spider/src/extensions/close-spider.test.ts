import { type Crawler, Settings, Signals, silentLogger } from '@webloom/core'
import { expect, test } from 'vitest'
import { CloseSpiderExtension, limitReached } from './close-spider.ts'

/** Makes the extension in a worker whose crawl began so long before. Resolves to how it ended the crawl, and what it told and warned of. */
async function endOf(limit: object, run: { readonly runningMs: number; readonly pages?: number }) {
  const [warnings, told]: [string[], string[]] = [[], []]
  const { promise: closed, resolve: close } = Promise.withResolvers<string>()
  const extension = CloseSpiderExtension.fromCrawler({
    settings: Settings.fromLayers({ command: limit as never }),
    signals: new Signals(() => {}),
    stats: { get: () => undefined },
    logger: {
      ...silentLogger,
      warn: (text: string) => void warnings.push(text),
      info: (text: string) => void told.push(text),
    },
    others: {
      stat: () => run.pages ?? 0,
      runningMs: () => run.runningMs,
    },
    close,
  } as unknown as Crawler)
  const reason = await closed
  extension.close()
  return { reason, warnings, told }
}

const HOUR_MS = 3_600_000

test.each([
  ['CLOSESPIDER_PAGECOUNT', 10, '5000 pages of all workers'],
  ['CLOSESPIDER_ITEMCOUNT', 10, '5000 items of all workers'],
  ['CLOSESPIDER_ERRORCOUNT', 10, '5000 errors of all workers'],
  ['CLOSESPIDER_TIMEOUT', 5, 'it has run for 5 s'],
  ['CLOSESPIDER_TIMEOUT_NO_ITEM', 0.1, 'no item in 0.1 s'],
])(
  '%s of a worker that has just joined a crawl of others: it is told why, and that it ends it',
  async (setting, value, met) => {
    const { reason, warnings, told } = await endOf({ [setting]: value }, { runningMs: HOUR_MS, pages: 5000 })
    expect(reason).toBe(setting.toLowerCase())
    expect(told).toEqual([`limit met: ${met} (${setting} is ${value})`])
    expect(limitReached(reason)).toBe(setting)
    expect(warnings).toEqual([
      expect.stringMatching(
        new RegExp(
          `^${setting} of this worker, which joined a crawl of others \\d s ago, ends it .* -s CRAWL_ID=trial$`,
        ),
      ),
    ])
  },
)

test('workers that began together are told nothing, whoever has met how many pages', async () => {
  expect(await endOf({ CLOSESPIDER_PAGECOUNT: 10 }, { runningMs: 4000, pages: 5000 })).toMatchObject({
    reason: 'closespider_pagecount',
    warnings: [],
  })
})

test.each([
  [{ CLOSESPIDER_PAGECOUNT: 2 }, '2 pages (CLOSESPIDER_PAGECOUNT is 2)'],
  [{ CLOSESPIDER_PAGECOUNT_NO_ITEM: 1 }, '1 page without an item (CLOSESPIDER_PAGECOUNT_NO_ITEM is 1)'],
  [{ CLOSESPIDER_ITEMCOUNT: 1 }, '1 item (CLOSESPIDER_ITEMCOUNT is 1)'],
])('%o of a crawl of one process: it says what it has', async (limit, met) => {
  const told: string[] = []
  const signals = new Signals(() => {})
  const extension = CloseSpiderExtension.fromCrawler({
    settings: Settings.fromLayers({ command: limit as never }),
    signals,
    logger: { ...silentLogger, info: (text: string) => void told.push(text) },
    close: () => {},
  } as unknown as Crawler)
  const args = {} as never
  await signals.send('responseReceived', args)
  await signals.send('responseReceived', args)
  await signals.send('itemScraped', args)
  extension.close()
  expect(told).toEqual([`limit met: ${met}`])
})

test('other workers are asked for nothing that no limit needs', async () => {
  const asked: string[] = []
  const signals = new Signals(() => {})
  const extension = CloseSpiderExtension.fromCrawler({
    settings: Settings.fromLayers({
      command: { CLOSESPIDER_PAGECOUNT: 5, CLOSESPIDER_PAGECOUNT_NO_ITEM: 1 },
    }),
    signals,
    logger: silentLogger,
    others: { stat: (key: string) => asked.push(key) && 0, runningMs: () => 0 },
    close: () => {},
  } as unknown as Crawler)
  await signals.send('responseReceived', {} as never)
  extension.close()
  expect(asked).toEqual(['response_received_count'])
})

test.each(['finished', 'shutdown', 'closespider_', 'closespider_pagecount_', 'CLOSESPIDER_PAGECOUNT'])(
  'the finish reason %s tells of no limit',
  (reason) => expect(limitReached(reason)).toBeUndefined(),
)
