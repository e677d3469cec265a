/**
 * The pipeline `sql` on both databases. SQLite is always tried; PostgreSQL where TEST_POSTGRES_URL names a server
 * whose database may be written, such as postgres://postgres@localhost/postgres.
 */

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { renameSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { MemoryStatsCollector, Settings, silentLogger } from '@webloom/core'
import { tempDir } from '@webloom/testkit'
import { Client } from 'pg'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { SqlPipeline } from './sql-pipeline.ts'
import { type SqlShape, shapeFrom } from './sql-table.ts'

const POSTGRES_URL = process.env.TEST_POSTGRES_URL

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A table to write to, and a way to look into its database. */
interface Place {
  readonly url: string
  readonly table: string
  rows(sql: string): Promise<Record<string, unknown>[]>
}

async function sqlitePlace(): Promise<Place> {
  const folder = await tempDir()
  cleanups.push(() => folder[Symbol.asyncDispose]())
  const path = join(folder.path, 'items.db')
  const rows = async (sql: string) => {
    using database = new DatabaseSync(path)
    return database.prepare(sql).all() as Record<string, unknown>[]
  }
  return { url: `sqlite:${path}`, table: 'quotes', rows }
}

async function postgresPlace(): Promise<Place> {
  const client = new Client(POSTGRES_URL)
  await client.connect()
  const table = `webloom_test_${randomUUID().replaceAll('-', '')}`
  cleanups.push(async () => {
    await client.query(`DROP TABLE IF EXISTS "${table}"`)
    await client.end()
  })
  return { url: POSTGRES_URL!, table, rows: async (sql) => (await client.query(sql)).rows }
}

function pipelineTo(
  { url, table }: Pick<Place, 'url' | 'table'>,
  shape: Partial<SqlShape> = {},
  batchSize = 500,
) {
  const stats = new MemoryStatsCollector()
  const warn = vi.fn()
  const pipeline = new SqlPipeline({
    url,
    shape: { table, idColumn: 'id', ...shape },
    batchSize,
    logger: { ...silentLogger, warn },
    stats,
  })
  cleanups.push(() => pipeline.closeSpider())
  const page = (name: string, ...items: unknown[]) =>
    Promise.allSettled(
      items.map((item, n) => pipeline.processItem(item, { id: `${name}/${n}`, response: null })),
    )
  return { pipeline, page, stats, warn }
}

const COLUMNS = [{ name: 'text' }, { name: 'price', type: 'NUMERIC CHECK (price < 100)' }, { name: 'tags' }]

describe.each([
  { database: 'SQLite', place: sqlitePlace, isHere: true },
  {
    database: 'PostgreSQL (TEST_POSTGRES_URL)',
    place: postgresPlace,
    isHere: POSTGRES_URL !== undefined,
  },
])('$database', ({ place, isHere }) => {
  test.skipIf(!isHere)(
    'items are rows under their ids, and one that comes again replaces its row',
    async () => {
      const there = await place()
      const { pipeline, page, stats } = pipelineTo(there)
      await pipeline.openSpider()
      await page('a', { text: 'it’s' }, { text: '"two"', deep: { list: [1] } })
      await page('a', { text: 'once more' })
      const rows = await there.rows(`SELECT id, item FROM ${there.table} ORDER BY id`)
      const items = rows.map(({ id, item }) => [id, typeof item === 'string' ? JSON.parse(item) : item])
      expect(items).toEqual([
        ['a/0', { text: 'once more' }],
        ['a/1', { text: '"two"', deep: { list: [1] } }],
      ])
      expect(stats.snapshot()).toEqual({ 'sql_items/written_count': 3 })
    },
  )

  test.skipIf(!isHere)('fields with columns of their own keep their types; others are left out', async () => {
    const there = await place()
    const { pipeline, page } = pipelineTo(there, { columns: COLUMNS })
    await pipeline.openSpider()
    await page('a', { text: 'x', price: 2.5, tags: ['a', 'b'], more: 1 }, { price: null, text: new Date(0) })
    const rows = await there.rows(`SELECT id, text, price * 2 AS twice, tags FROM ${there.table} ORDER BY id`)
    expect(rows.map((row) => ({ ...row, twice: row.twice === null ? null : Number(row.twice) }))).toEqual([
      { id: 'a/0', text: 'x', twice: 5, tags: expect.stringMatching(/^\["a", ?"b"\]$/) },
      { id: 'a/1', text: '1970-01-01T00:00:00.000Z', twice: null, tags: null },
    ])
  })

  test.skipIf(!isHere)('an item that the table refuses is lost alone', async () => {
    const there = await place()
    const { pipeline, page, stats } = pipelineTo(there, { columns: COLUMNS })
    await pipeline.openSpider()
    const results = await page('a', { price: 1 }, { price: 100 }, { price: 2 }, { price: 3n })
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    expect(await there.rows(`SELECT id FROM ${there.table} ORDER BY id`)).toMatchObject([
      { id: 'a/0' },
      { id: 'a/2' },
    ])
    expect(stats.get('sql_items/written_count')).toBe(2)
    await pipeline.closeSpider()
    expect(stats.get('sql_items/unwritten_count')).toBe(undefined)
  })

  test.skipIf(!isHere)(
    'a table that refuses for good fails the output, and the end tells how many items it has not got',
    async () => {
      const there = await place()
      const { pipeline, page, stats, warn } = pipelineTo(there, {}, 2)
      await pipeline.openSpider()
      await page('a', { n: 1 })
      await there.rows(`DROP TABLE ${there.table}`)
      const results = await page('b', { n: 1 }, { n: 2 }, { n: 3 })
      const refused = { code: 'WL_OUTPUT_FAILED', message: expect.stringContaining(pipeline.shown) }
      expect(results).toEqual(Array(3).fill({ status: 'rejected', reason: expect.objectContaining(refused) }))
      expect(warn).not.toHaveBeenCalled()
      await pipeline.closeSpider()
      await pipeline.closeSpider()
      expect(warn.mock.calls).toEqual([
        [
          { table: pipeline.shown, items: 3 },
          expect.stringContaining(
            `items that were not written: 3, as items cannot be written to ${pipeline.shown}: `,
          ),
        ],
      ])
      expect(stats.snapshot()).toEqual({ 'sql_items/written_count': 1, 'sql_items/unwritten_count': 3 })
    },
  )

  test.skipIf(!isHere)(
    '2 000 items by two workers at once, in small batches: each is there once',
    async () => {
      const there = await place()
      const workers = [pipelineTo(there, {}, 50), pipelineTo(there, {}, 50)]
      await Promise.all(workers.map(({ pipeline }) => pipeline.openSpider()))
      const items = Array.from({ length: 2000 }, (_, n) => ({ n }))
      await Promise.all([workers[0]!.page('p', ...items), workers[1]!.page('p', ...items.toReversed())])
      expect(Number((await there.rows(`SELECT count(*) AS n FROM ${there.table}`))[0]!.n)).toBe(2000)
    },
  )
})

test('an SQLite file that another process is writing is waited for', async () => {
  const there = await sqlitePlace()
  const { pipeline, page, stats, warn } = pipelineTo(there)
  await pipeline.openSpider()
  using other = new DatabaseSync(there.url.slice('sqlite:'.length))
  other.exec('BEGIN IMMEDIATE')
  const waited = new Promise<void>((resolve) => warn.mockImplementation(() => resolve()))
  const written = page('a', { text: 'late' })
  await waited
  other.exec('COMMIT')
  expect((await written)[0]!.status).toBe('fulfilled')
  expect(stats.snapshot()).toEqual({ 'sql_items/wait_count': 1, 'sql_items/written_count': 1 })
})

test('closed while an SQLite file is locked, it tells no page that an item is written or lost, and the log how many wait', async () => {
  const there = await sqlitePlace()
  const { pipeline, page, stats, warn } = pipelineTo(there, {}, 2)
  await pipeline.openSpider()
  using other = new DatabaseSync(there.url.slice('sqlite:'.length))
  other.exec('BEGIN IMMEDIATE')
  const waited = new Promise<void>((resolve) => warn.mockImplementationOnce(() => resolve()))
  const settled = vi.fn()
  page('a', { n: 1 }, { n: 2 }, { n: 3 }).then(settled)
  await waited
  await pipeline.closeSpider()
  expect(warn.mock.lastCall![1]).toContain(
    `items that were not written: 3, as ${pipeline.shown} takes nothing (database is locked). The pages that brought them do not count as done`,
  )
  expect(stats.snapshot()).toEqual({ 'sql_items/wait_count': 1, 'sql_items/unwritten_count': 3 })
  other.exec('COMMIT')
  expect(await there.rows(`SELECT * FROM ${there.table}`)).toEqual([])
  expect(settled).not.toHaveBeenCalled()
})

test.each([
  { what: 'removed', act: (path: string) => rmSync(path) },
  { what: 'moved', act: (path: string) => renameSync(path, `${path}.old`) },
])(
  'an SQLite file that is $what, to which SQLite would go on to write, fails the output',
  async ({ act }) => {
    const there = await sqlitePlace()
    const { pipeline, page, stats } = pipelineTo(there)
    await pipeline.openSpider()
    await page('a', { n: 1 })
    act(there.url.slice('sqlite:'.length))
    const [result] = await page('b', { n: 1 })
    expect(result).toMatchObject({
      reason: { code: 'WL_OUTPUT_FAILED', message: expect.stringContaining('moved or removed') },
    })
    await pipeline.closeSpider()
    expect(stats.get('sql_items/unwritten_count')).toBe(1)
  },
)

test.skipIf(!POSTGRES_URL)('a PostgreSQL that goes away before it answers may have the items', async () => {
  const there = await postgresPlace()
  const { hostname, port } = new URL(POSTGRES_URL!)
  let isCutting = false
  const relay = createServer((client) => {
    const server = connect(Number(port || 5432), hostname)
    client.on('error', () => {})
    server.on('error', () => {}).pipe(client)
    client.on('data', (sent) => {
      if (!isCutting) return void server.write(sent)
      relay.close()
      for (const end of [client, server]) end.destroy()
    })
  })
  await once(relay.listen(0, '127.0.0.1'), 'listening')
  const url = new URL(POSTGRES_URL!)
  url.host = `127.0.0.1:${(relay.address() as AddressInfo).port}`
  const { pipeline, page, stats, warn } = pipelineTo({ url: url.href, table: there.table })
  await pipeline.openSpider()
  isCutting = true
  const waited = new Promise<void>((resolve) => warn.mockImplementationOnce(() => resolve()))
  void page('a', { n: 1 })
  await waited
  await pipeline.closeSpider()
  expect(warn.mock.lastCall![1]).toContain(
    `items that may not have been written: 1, as ${pipeline.shown} takes nothing (`,
  )
  expect(stats.get('sql_items/unwritten_count')).toBe(1)
})

test.skipIf(!POSTGRES_URL)(
  'a PostgreSQL that does not answer is not waited for before its items are told',
  async () => {
    const there = await postgresPlace()
    const { pipeline, page, stats, warn } = pipelineTo(there)
    await pipeline.openSpider()
    await there.rows('BEGIN')
    await there.rows(`LOCK TABLE ${there.table}`)
    const written = page('a', { n: 1 })
    // It is sent when the event loop has turned.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    const told = new Promise<void>((resolve) => warn.mockImplementationOnce(() => resolve()))
    const closed = pipeline.closeSpider()
    await told
    await there.rows('COMMIT')
    await Promise.all([closed, written])
    expect(warn.mock.calls).toEqual([
      [
        expect.anything(),
        expect.stringContaining(
          `may not have been written: 1, as ${pipeline.shown} has not answered yet what was sent.`,
        ),
      ],
    ])
    expect(stats.get('sql_items/unwritten_count')).toBe(1)
  },
)

test.skipIf(!POSTGRES_URL)('a PostgreSQL whose connection breaks is connected to anew', async () => {
  const there = await postgresPlace()
  const { pipeline, page, warn } = pipelineTo(there)
  await pipeline.openSpider()
  await page('a', { n: 1 })
  await there.rows(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'webloom'`,
  )
  const [result] = await page('a', { n: 2 })
  expect(result!.status).toBe('fulfilled')
  expect(warn.mock.calls.length).toBeLessThanOrEqual(1)
  expect(await there.rows(`SELECT item FROM ${there.table}`)).toEqual([{ item: { n: 2 } }])
})

test('a PostgreSQL that is not there is told before anything is fetched, without its password', async () => {
  const { pipeline } = pipelineTo({ url: 'postgres://me:secret@127.0.0.1:1/db', table: 't' })
  const error = await pipeline.openSpider().catch((thrown: Error) => thrown)
  expect(error).toMatchObject({
    code: 'WL_OUTPUT_UNWRITABLE',
    message: expect.stringContaining('127.0.0.1:1/db'),
  })
  expect((error as Error).message).not.toContain('secret')
})

describe('settings', () => {
  test('name table and columns; the spider’s name stands in it as a name may', () => {
    const settings = new Settings({ SQL_COLUMNS: { price: 'REAL' }, SQL_ID_COLUMN: 'key' })
    expect(shapeFrom(settings, 'books.toscrape')).toEqual({
      table: 'books_toscrape',
      idColumn: 'key',
      columns: [{ name: 'price', type: 'REAL' }],
    })
    expect(shapeFrom(new Settings({ SQL_TABLE: 'crawl.%(spider)s' }), 'q')).toEqual({
      table: 'crawl.q',
      idColumn: 'id',
    })
  })

  test('a field that would be the column of the ids is refused with the way out', () => {
    const settings = new Settings({ SQL_COLUMNS: ['id', 'text'] })
    expect(() => shapeFrom(settings, 'q')).toThrow(/ITEM_ID_FIELD=id/)
  })

  test.each([
    ['sqlite:a.db', 'a.db'],
    ['sqlite:///a.db', 'a.db'],
    ['sqlite:/var/a.db', '/var/a.db'],
    ['sqlite:////var/a.db', '/var/a.db'],
  ])('%s is the file %s', (url, path) => {
    vi.spyOn(process, 'cwd').mockReturnValue('/here')
    cleanups.push(() => vi.restoreAllMocks())
    const shape = { table: 't', idColumn: 'id' }
    const options = { url, shape, batchSize: 1, logger: silentLogger, stats: new MemoryStatsCollector() }
    expect(new SqlPipeline(options).shown).toBe(`${path.startsWith('/') ? path : `/here/${path}`}, table t`)
  })

  test.each(['pa/ss', 'pa#ss', 'p@ss/word', 'p@ss#word'])(
    'a password like %s is refused with how to write it, and is not shown',
    (password) => {
      const open = () => pipelineTo({ url: `postgres://me:${password}@h/db`, table: 't' })
      expect(open).toThrow(/SQL_URL cannot be read .* write %2F for \/.* %40 for @/)
      expect(open).not.toThrow(password)
      const url = `postgres://me:${encodeURIComponent(password)}@h/db`
      expect(pipelineTo({ url, table: 't' }).pipeline.shown).toBe('postgres://h/db, table t')
    },
  )

  test('another kind of URL is refused', () => {
    expect(() => pipelineTo({ url: 'mysql://me:secret@h/db', table: 't' })).toThrow(/begins with "mysql"/)
  })
})
