/** Items in whole crawls: schemas, ids of their own, tables, and outputs that are put together. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { silentLogger } from '@webloom/core'
import { startFakeWeb, type TempDir, tempDir } from '@webloom/testkit'
import { afterEach, beforeEach, expect, expectTypeOf, test } from 'vitest'
import {
  type CrawlResult,
  crawl,
  DropItem,
  item,
  type Response,
  type SettingsInput,
  Spider,
  type SpiderClass,
} from 'webloom'
import type { ItemContext, ItemPipeline, Logger } from 'webloom/ports'
import * as z from 'zod'

let folder: TempDir
beforeEach(async () => {
  folder = await tempDir()
})
afterEach(() => folder[Symbol.asyncDispose]())

const said: { fields: Record<string, unknown>; message: string }[] = []
const logger: Logger = {
  ...silentLogger,
  warn: (first: object | string, message?: string) =>
    void said.push({ fields: { ...(first as object) }, message: message ?? String(first) }),
  child: () => logger,
}

/** Crawls one page with that callback. */
async function crawlPage(
  parse: (response: Response) => unknown,
  settings: SettingsInput = {},
): Promise<CrawlResult> {
  await using web = await startFakeWeb({ seed: 1, hosts: 1, pagesPerHost: 1 })
  const startUrls = [...web.seeds]
  class OnePage extends Spider {
    override name = 'one-page'
    override startUrls = startUrls
    override parse(response: Response): unknown {
      return parse(response)
    }
  }
  return await crawl(OnePage as SpiderClass, { settings, logger })
}

const linesOf = (name: string): unknown[] =>
  readFileSync(join(folder.path, name), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

const Book = z.object({
  title: z.string(),
  price: z.coerce.number().positive(),
  tags: z.array(z.string()).default([]),
})

test.each([
  [
    'a generator',
    function* () {
      yield item(Book, { title: 'a', price: '3' })
      yield item(Book, { title: 'b', price: 'free' })
      yield item(Book, { title: 'c', price: 1 })
    },
  ],
  [
    'a generator whose schema answers later',
    function* () {
      const Later = Book.refine(async () => true)
      for (const [title, price] of [
        ['a', 3],
        ['b', -1],
        ['c', 1],
      ])
        yield item(Later, { title, price })
    },
  ],
  [
    'an async generator whose schema answers later',
    async function* () {
      const Later = Book.refine(async () => true)
      for (const [title, price] of [
        ['a', 3],
        ['b', -1],
        ['c', 1],
      ])
        yield item(Later, { title, price })
    },
  ],
])('%s: a wrong item is dropped, counted and told; the others go on', async (_, parse) => {
  said.length = 0
  const { stats } = await crawlPage(parse, { FEEDS: { [join(folder.path, 'out.jsonl')]: {} } })
  expect(linesOf('out.jsonl')).toEqual([
    { title: 'a', price: 3, tags: [] },
    { title: 'c', price: 1, tags: [] },
  ])
  expect(stats).toMatchObject({
    item_scraped_count: 2,
    item_dropped_count: 1,
    'item_dropped_reasons_count/InvalidItem': 1,
  })
  expect(said.filter(({ message }) => message === 'item dropped')).toMatchObject([
    {
      fields: {
        pipeline: 'item()',
        url: expect.stringMatching(/^http/),
        reason: expect.stringMatching(/^price: /),
      },
    },
  ])
})

test('pipelines get what the schema made, and its type', async () => {
  const seen: unknown[] = []
  class Discount implements ItemPipeline<z.infer<typeof Book>> {
    processItem(book: z.infer<typeof Book>, { id }: ItemContext) {
      expectTypeOf(book.price).toEqualTypeOf<number>()
      seen.push(id.replace(/^.*\//, ''))
      if (book.price > 10) throw new DropItem('too dear')
      return { ...book, price: book.price / 2 }
    }
  }
  const prices = [2, 20, -1, 4]
  const { stats } = await crawlPage(() => prices.map((price) => item(Book, { title: 't', price })), {
    ITEM_PIPELINES: [[Discount, 300]],
    FEEDS: { [join(folder.path, 'out.jsonl')]: { fields: ['price'] } },
  })
  expect(linesOf('out.jsonl')).toEqual([{ price: 1 }, { price: 2 }])
  // A wrong item has its number, so that the ids of the others do not depend on what its schema says.
  expect(seen).toEqual(['0', '1', '3'])
  expect(stats).toMatchObject({
    item_dropped_count: 2,
    'item_dropped_reasons_count/InvalidItem': 1,
    'item_dropped_reasons_count/DropItem': 1,
  })
})

test('ITEM_ID_FIELD: items of one id are one row, others have the id of their page and their number', async () => {
  const path = join(folder.path, 'items.db')
  const settings: SettingsInput = {
    ITEM_PIPELINES: { sql: 300 },
    SQL_URL: `sqlite:${path}`,
    SQL_COLUMNS: { price: 'REAL' },
    ITEM_ID_FIELD: 'isbn',
  }
  for (const price of [1, 2])
    await crawlPage(
      () => [{ isbn: 'x-1', price }, { isbn: 42, price }, { price }, { isbn: '', price }],
      settings,
    )
  using database = new DatabaseSync(path)
  const rows = database.prepare('SELECT id, price FROM one_page ORDER BY rowid').all()
  expect(rows).toMatchObject([
    { id: 'x-1', price: 2 },
    { id: '42', price: 2 },
    { id: expect.stringMatching(/\/2$/), price: 2 },
    { id: expect.stringMatching(/\/3$/), price: 2 },
  ])
})

test('a crawl whose table cannot be written ends before anything is fetched', async () => {
  const settings: SettingsInput = { ITEM_PIPELINES: { sql: 300 }, SQL_URL: `sqlite:${folder.path}` }
  await expect(crawlPage(() => [], settings)).rejects.toMatchObject({ code: 'WL_OUTPUT_UNWRITABLE' })
  await expect(crawlPage(() => [], { ITEM_PIPELINES: { sql: 300 } })).rejects.toThrow(
    'Set SQL_URL=sqlite:items.db',
  )
})

test('batches, a compressed file and a worker’s own part, side by side', async () => {
  const at = (name: string) => join(folder.path, name)
  const { stats } = await crawlPage(() => [1, 2, 3].map((n) => ({ n })), {
    FEEDS: {
      [at('%(name)s-%(batch_id)d.xml')]: { batch_item_count: 2 },
      [at('all.csv.gz')]: {},
      [at('part-%(worker)s.jsonl')]: {},
    },
  })
  expect(readdirSync(folder.path).sort()).toEqual([
    'all.csv.gz',
    'one-page-1.xml',
    'one-page-2.xml',
    expect.stringMatching(/^part-.+-\d+-[0-9a-f]{8}\.jsonl$/),
  ])
  expect(gunzipSync(readFileSync(at('all.csv.gz'))).toString()).toBe('n\r\n1\r\n2\r\n3\r\n')
  expect(stats['feedexport/success_count/FileFeedStorage']).toBe(4)
})
