/** Workers that were silent, and settings of which others are told. */

import { type Logger, silentLogger } from '@webloom/core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import type { AlikeSettings } from './alike-settings.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const settings = (told: string): AlikeSettings => ({
  fixed: [],
  together: [],
  told: [{ name: 'TOLD', value: told, why: 'it is odd' }],
  typed: (name, value) => `-s ${name}=${value}`,
})

/** Notes the WARNINGs of one worker. */
function listening() {
  const words: string[] = []
  const logger: Logger = { ...silentLogger, warn: (text: unknown) => void words.push(String(text)) }
  return { words, logger }
}

async function joined(keys: CrawlRedisKeys, told: string) {
  const { words, logger } = listening()
  const record = bench.record(keys, { persists: true, logger, alike: settings(told) })
  await record.open()
  return { words, record }
}

test('one that comes back is told of what workers at work have, and they are told of what it has', async () => {
  const keys = bench.nextKeys()
  const { words, logger } = listening()
  const silent = await bench.join(keys, { alike: settings('1'), logger })
  await bench.unheardFor(15_000, keys, silent.workerId)
  const alone = await joined(keys, '2')
  // From now on its heartbeats come often.
  silent.heartbeat.stat('pages')
  await vi.waitFor(() => expect(words).toEqual([expect.stringMatching(/TOLD is 1 here and 2 there/)]), 5000)
  await alone.record.close()
  const third = await joined(keys, '3')
  expect(third.words).toEqual([expect.stringMatching(/TOLD is 3 here and 1 there/)])
  await bench.redis.hdel(keys.workers, silent.workerId)
  await vi.waitFor(() => expect(words[1]).toMatch(/TOLD is 1 here and 3 there/), 5000)
})

test('what a worker has otherwise is not forgotten while it is silent', async () => {
  const keys = bench.nextKeys()
  await joined(keys, '1')
  const unlike = await bench.join(keys, { alike: settings('2') })
  await unlike.heartbeat.close()
  await bench.unheardFor(15_000, keys, unlike.workerId)
  const meanwhile = await joined(keys, '1')
  await bench.unheardFor(0, keys, unlike.workerId)
  const later = await joined(keys, '1')
  expect([meanwhile.words, later.words]).toEqual([[], [expect.stringMatching(/TOLD is 1 here and 2 there/)]])
})
