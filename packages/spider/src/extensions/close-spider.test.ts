import { type Crawler, Settings, Signals, silentLogger } from '@webloom/core'
import { expect, test } from 'vitest'
import { CloseSpiderExtension, limitReached } from './close-spider.ts'

/** Makes the extension in a worker whose crawl began so long before. Resolves to how it ended the crawl, and what it warned of. */
async function endOf(limit: object, run: { readonly runningMs: number; readonly pages?: number }) {
  const warnings: string[] = []
  const { promise: closed, resolve: close } = Promise.withResolvers<string>()
  const extension = CloseSpiderExtension.fromCrawler({
    settings: Settings.fromLayers({ command: limit as never }),
    signals: new Signals(() => {}),
    stats: { get: () => undefined },
    logger: { ...silentLogger, warn: (text: string) => void warnings.push(text) },
    others: {
      stat: () => run.pages ?? 0,
      runningMs: () => run.runningMs,
    },
    close,
  } as unknown as Crawler)
  const reason = await closed
  extension.close()
  return { reason, warnings }
}

const HOUR_MS = 3_600_000

test.each([
  ['CLOSESPIDER_PAGECOUNT', 10],
  ['CLOSESPIDER_ITEMCOUNT', 10],
  ['CLOSESPIDER_ERRORCOUNT', 10],
  ['CLOSESPIDER_TIMEOUT', 5],
  ['CLOSESPIDER_TIMEOUT_NO_ITEM', 0.1],
])(
  '%s of a worker that has just joined a crawl of others: it is told that it ends it',
  async (setting, value) => {
    const { reason, warnings } = await endOf({ [setting]: value }, { runningMs: HOUR_MS, pages: 5000 })
    expect(reason).toBe(setting.toLowerCase())
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
  expect(await endOf({ CLOSESPIDER_PAGECOUNT: 10 }, { runningMs: 4000, pages: 5000 })).toEqual({
    reason: 'closespider_pagecount',
    warnings: [],
  })
})

test.each(['finished', 'shutdown', 'closespider_', 'closespider_pagecount_', 'CLOSESPIDER_PAGECOUNT'])(
  'the finish reason %s tells of no limit',
  (reason) => expect(limitReached(reason)).toBeUndefined(),
)
