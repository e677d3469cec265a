/** A table of items that is gone in the middle of a crawl: what is told then, and what the next run does. */

import { DatabaseSync } from 'node:sqlite'
import { startFakeWeb, tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { itemsCrawl } from './items-crawl.ts'

const PAGES = 60

test('the crawl ends as output_failed and tells how many items it has not written, and the next run fetches their pages again', async () => {
  await using web = await startFakeWeb({ seed: 1, hosts: 1, pagesPerHost: PAGES, latencyMs: 20 })
  await using folder = await tempDir()
  const database = folder.join('items.db')
  const run = async (whenHit?: () => void) => {
    const { crawl, told } = await itemsCrawl(
      web,
      {
        ITEM_PIPELINES: [['sql', 300]],
        SQL_URL: `sqlite:${database}`,
        SQL_TABLE: 'pages',
        SQL_COLUMNS: ['url'],
        JOBDIR: folder.join('job'),
      },
      { folder: folder.path },
    )
    const [{ reason }] = (await Promise.allSettled([
      crawl.run(),
      whenHit && web.waitForHits(10, 20_000).then(whenHit),
    ])) as [{ reason?: unknown }, unknown]
    return { failure: reason, stats: crawl.stats.snapshot(), told: told() }
  }
  const query = (sql: string) => {
    using open = new DatabaseSync(database)
    return open.prepare(sql).all()
  }
  // Another program takes what is there, and the table with it.
  const first = await run(() => query('ALTER TABLE pages RENAME TO taken'))
  expect(first.failure).toMatchObject({ code: 'WL_OUTPUT_FAILED' })
  expect(first.stats.finish_reason).toBe('output_failed')
  const where = `${database}, table pages`
  const why = `items cannot be written to ${where}: no such table: pages`
  expect(first.told.filter((line) => line.startsWith('error'))).toEqual([`error the crawl ends: ${why}`])
  const unwritten = Number(first.stats['sql_items/unwritten_count'])
  expect(unwritten).toBeGreaterThan(0)
  expect(first.told.join('\n')).toContain(
    `warn items that were not written: ${unwritten}, as ${why}. The pages`,
  )
  const next = await run()
  expect(next.stats.finish_reason).toBe('finished')
  expect(next.stats['sql_items/unwritten_count']).toBe(undefined)
  expect(query('SELECT url FROM pages UNION SELECT url FROM taken')).toHaveLength(PAGES)
})
