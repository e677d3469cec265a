import { Settings } from '@webloom/core'
import { expect, test } from 'vitest'
import type { Crawl, CrawlPhase } from '../assembly/crawl.ts'
import { crawlHealth } from './crawl-health.ts'

interface Seen {
  readonly phase?: CrawlPhase
  readonly stalled?: boolean
  readonly endsBecause?: string
  readonly silent?: string
  readonly waits?: string
}

function crawlThat({ phase = 'crawling', stalled = false, endsBecause, silent, waits }: Seen): Crawl {
  const settings = Settings.fromLayers({
    command: { REDIS_URL: 'redis://:secret@10.0.4.2', DUPEFILTER_REDIS_URL: 'redis://10.0.4.3' },
  })
  const store = { silentServer: async () => silent, waits: () => waits }
  const inside = { engine: { activity: { stalled }, endsBecause }, store }
  return { phase, settings, inside } as unknown as Crawl
}

test.each<[Seen, alive: boolean, notReady?: string]>([
  [{}, true],
  [{ phase: 'waiting' }, true, 'it waits for Redis at redis://10.0.4.2:6379/0 and redis://10.0.4.3:6379/0'],
  [{ phase: 'opening' }, true, 'the crawl is being opened'],
  [{ phase: 'opening', waits: 'for silent workers' }, true, 'it waits for silent workers'],
  [{ phase: 'ending', endsBecause: 'shutdown' }, true, 'it ends: shutdown'],
  [
    { silent: 'redis://10.0.4.2:6379/0' },
    true,
    'Redis at redis://10.0.4.2:6379/0 does not answer, or takes no writes',
  ],
  [{ waits: 'until another is over' }, true, 'it waits until another is over'],
  [{ stalled: true }, false, 'it has nothing to do, but the queue has requests in flight in its name'],
])('%o', async (seen, alive, why) => {
  const health = crawlHealth(crawlThat(seen))
  expect(health.alive().ok).toBe(alive)
  expect(await health.ready()).toEqual(why === undefined ? { ok: true } : { ok: false, why })
})
