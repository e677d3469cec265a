/**
 * What each released version left of a crawl in its middle goes on with this one: no page is lost, and of what was done only that
 * is fetched again which a killed worker had in work.
 */

import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runProcess, startRedis, tempDir } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { SHORT_TIMES } from '../cluster/cluster-crawl.ts'
import { restoreKeys } from './redis-keys-file.ts'
import { BROKEN, linksOf, PAGES, ReleaseSite } from './release-site.ts'

const FIXTURES = join(import.meta.dirname, 'fixtures')
const KB_MAX = 200
const SCALED_BIN = join(import.meta.dirname, '../cluster/scaled-webloom.ts')
const SPIDER = join(import.meta.dirname, 'released-spider.ts')
/** CONCURRENT_REQUESTS of the worker that was killed: so many pages it had in work. */
const IN_WORK_MAX = 4
/** Of so many pages the killed worker may not have told the filter that they are done: their links may be taken over. */
const UNTOLD_MAX = 3 * IN_WORK_MAX
const SETTINGS = { RETRY_TIMES: 1, ROBOTSTXT_OBEY: false, DUPEFILTER_PENDING_STALE: 10 * SHORT_TIMES }

describe.each(readdirSync(FIXTURES))('webloom %s', (version) => {
  const folder = join(FIXTURES, version)
  const asked = JSON.parse(readFileSync(join(folder, 'asked.json'), 'utf8')) as Record<string, number[]>

  /** Runs what is left to its end, and answers which pages the site was asked for. */
  async function goesOn(command: 'worker' | 'crawl', settings: object): Promise<readonly number[]> {
    await using site = await ReleaseSite.open()
    await using cwd = await tempDir()
    const words = Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => [
      '-s',
      `${name}=${value}`,
    ])
    const { code, stderr } = await runProcess(process.execPath, [SCALED_BIN, command, SPIDER, ...words], {
      cwd: cwd.path,
      env: { PROTOCOL_TIMES_FACTOR: String(SHORT_TIMES) },
    })
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('crawl ended: finished')
    return site.asked
  }

  const allOf = (...parts: (readonly number[])[]) => [...new Set(parts.flat())].toSorted((a, b) => a - b)
  const ALL = Array.from({ length: PAGES }, (_, page) => page)

  test.each([
    ['turns', { DUPEFILTER_CLASS: 'redis-bloom', BLOOMFILTER_CAPACITY: 1000 }],
    ['job', { DUPEFILTER_CLASS: 'redis-set' }],
  ])('QUEUE_MODE=%s on Redis', async (mode, filter) => {
    await using redis = await startRedis()
    const client = new Redis(redis.url)
    await restoreKeys(client, join(folder, `${mode}.json`))
    client.disconnect()
    const before = asked[mode]!
    const now = await goesOn('worker', { REDIS_URL: redis.url, QUEUE_MODE: mode, ...filter })
    expect(allOf(before, now)).toEqual(ALL)
    const again = now.filter((page) => before.includes(page) && page !== BROKEN)
    expect(again.length, `fetched again: ${again}`).toBeLessThanOrEqual(IN_WORK_MAX)
    const mayComeTwice = new Set(before.slice(-UNTOLD_MAX).flatMap(linksOf))
    const twice = now.filter((page, at) => now.indexOf(page) !== at)
    expect(
      twice.filter((page) => !mayComeTwice.has(page)),
      'fetched twice',
    ).toEqual([])
  })

  test('JOBDIR', async () => {
    await using job = await tempDir()
    cpSync(join(folder, 'jobdir'), job.path, { recursive: true })
    const now = await goesOn('crawl', { JOBDIR: job.path })
    expect(allOf(asked.jobdir!, now)).toEqual(ALL)
    expect(now).toHaveLength(PAGES - new Set(asked.jobdir).size + (asked.jobdir!.includes(BROKEN) ? 1 : 0))
  })

  test(`takes no more than ${KB_MAX} kB`, () => {
    const sizes = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)).length)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(KB_MAX * 1000)
  })
})
