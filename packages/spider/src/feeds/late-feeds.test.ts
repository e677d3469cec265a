/** Outputs that take longer than they may: none is lost without a word. */

import { existsSync, readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { MemoryStatsCollector, silentLogger } from '@webloom/core'
import { type TempDir, tempDir } from '@webloom/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Feed } from './feed.ts'
import { JsonLinesFormat } from './formats/json-format.ts'
import { linesLayout } from './formats/spool-layout.ts'
import { LostItems } from './lost-items.ts'
import { type FeedStorage, OwnDestination } from './storages/own-storage.ts'
import { SpooledOutput } from './storages/spooled-output.ts'

const URI = 'shelf://a/out.jsonl'

let folder: TempDir
beforeEach(async () => {
  folder = await tempDir()
})
afterEach(() => folder[Symbol.asyncDispose]())

function feedTo(storage: FeedStorage, { resumable = false } = {}) {
  const stats = new MemoryStatsCollector()
  const losses = new LostItems({ uri: URI, logger: silentLogger })
  const output = new SpooledOutput({
    spoolPath: folder.join('out.spool'),
    uri: URI,
    destination: new OwnDestination(storage, { kind: 'own', uri: URI, scheme: 'shelf' }),
    layout: linesLayout,
    overwrite: true,
    logger: silentLogger,
  })
  const format = new JsonLinesFormat({ fields: undefined, reports: losses })
  return {
    feed: new Feed({ uri: URI, format, losses, output, storeEmpty: true, resumable, timeoutMs: 250, stats }),
    stats,
  }
}

const never = new Promise<never>(() => {})

test('an output that its storage does not take in time has failed; the error names where its items are', async () => {
  const { feed, stats } = feedTo({ store: () => never })
  await feed.open()
  await feed.write([{ a: 1 }])
  const spool = folder.join('out.spool')
  await expect(feed.close('finished')).rejects.toMatchObject({
    code: 'WL_OUTPUT_FAILED',
    message: `Writing ${URI} failed: it was not complete within COMPONENT_TIMEOUT, 0.25 s, and is given up. The items are in ${spool}, one a line. Raise COMPONENT_TIMEOUT before you crawl again; these items are JSON lines, so you can also put them there by other means.`,
  })
  expect(readFileSync(spool, 'utf8')).toBe('{"a":1}\n')
  expect(stats.snapshot()['feedexport/failed_count/Object']).toBe(1)
})

test('of a crawl that goes on the next run makes it', async () => {
  const { feed } = feedTo({ store: () => never }, { resumable: true })
  await feed.open()
  await feed.write([{ a: 1 }])
  await expect(feed.close('finished')).rejects.toThrow(/run the crawl again: the output is then made of them/)
})

test('what was given up is not made later: its items stay where the error says', async () => {
  const goesOn = Promise.withResolvers<void>()
  let given = ''
  const ended = Promise.withResolvers<unknown>()
  const { feed } = feedTo({
    async store(_uri, output) {
      await goesOn.promise
      try {
        for await (const piece of output) given += piece
        ended.resolve('stored')
      } catch (error) {
        ended.resolve(error)
        throw error
      }
    },
  })
  await feed.open()
  await feed.write([{ a: 1 }])
  await expect(feed.close('finished')).rejects.toMatchObject({ code: 'WL_OUTPUT_FAILED' })
  goesOn.resolve()
  expect(await ended.promise).toMatchObject({ code: 'WL_OUTPUT_FAILED' })
  await setImmediate()
  expect([given, existsSync(folder.join('out.spool'))]).toEqual(['', true])
})

test('a storage that does not say in time what it holds ends the crawl before anything is fetched', async () => {
  const { feed } = feedTo({ holds: () => never, store: async () => {} })
  await expect(feed.open()).rejects.toMatchObject({
    code: 'WL_OUTPUT_UNWRITABLE',
    message: `${URI} cannot be written: opening it took longer than COMPONENT_TIMEOUT, 0.25 s. Look whether its storage answers, or raise COMPONENT_TIMEOUT.`,
  })
})
