/**
 * What each released version left of a crawl in its middle goes on with this one: no page is lost, and of what was done only that
 * is fetched again which a killed worker had in work.
 */

import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startRedis, tempDir } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { linesOf, SHORT_TIMES } from '../cluster/cluster-crawl.ts'
import { hosts } from '../projects/command-hosts.ts'
import { restoreKeys } from './redis-keys-file.ts'
import { BROKEN, linksOf, PAGES, ReleaseSite } from './release-site.ts'

const FIXTURES = join(import.meta.dirname, 'fixtures')
const KB_MAX = 200
const SPIDER = join(import.meta.dirname, 'released-spider.ts')
/** CONCURRENT_REQUESTS of the worker that was killed. Each page took 100 ms. */
const AT_ONCE = 4
/** So many pages it had in work: in shards, what has ended gathers for 50 ms. */
const IN_WORK_MAX = 2 * AT_ONCE
/** Of so many pages it may not have told the filter that they are done, for which it has 300 ms: their links may be taken over. */
const UNTOLD_MAX = IN_WORK_MAX + 3 * AT_ONCE
const SETTINGS = {
  RETRY_TIMES: 1,
  ROBOTSTXT_OBEY: false,
  PRIVATE_ADDRESSES_ALLOWED: '*',
  DUPEFILTER_PENDING_STALE: 10 * SHORT_TIMES,
}

describe.each(readdirSync(FIXTURES))('webloom %s', (version) => {
  const folder = join(FIXTURES, version)
  const asked = JSON.parse(readFileSync(join(folder, 'asked.json'), 'utf8')) as Record<string, number[]>

  /** Runs what is left to its end. Resolves to the pages that the site was asked for, and to the stats. */
  async function goesOn(
    command: 'worker' | 'crawl',
    settings: object,
  ): Promise<{ now: readonly number[]; stats: Readonly<Record<string, number>> }> {
    await using site = await ReleaseSite.open({ isSpread: 'QUEUE_SHARDS' in settings })
    await using cwd = await tempDir()
    const words = Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => [
      '-s',
      `${name}=${value}`,
    ])
    const line = hosts.start([command, SPIDER, ...words], {
      cwd: cwd.path,
      factor: SHORT_TIMES,
      timeoutMs: 60_000,
    })
    const { code, stderr } = await line.exited
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('crawl ended: finished')
    const { stats } = linesOf({ stderr }).find(({ msg }) => msg === 'final stats')!
    return { now: site.asked, stats: stats as Readonly<Record<string, number>> }
  }

  const allOf = (...parts: (readonly number[])[]) => [...new Set(parts.flat())].toSorted((a, b) => a - b)
  const ALL = Array.from({ length: PAGES }, (_, page) => page)

  test.each([
    ['turns', { QUEUE_MODE: 'turns', DUPEFILTER_CLASS: 'redis-bloom', BLOOMFILTER_CAPACITY: 1000 }],
    ['job', { QUEUE_MODE: 'job', DUPEFILTER_CLASS: 'redis-set' }],
    [
      'shards',
      { QUEUE_SHARDS: 3, DUPEFILTER_SHARDS: 4, DUPEFILTER_CLASS: 'redis-bloom', BLOOMFILTER_CAPACITY: 200 },
    ],
  ])('%s on Redis', async (name, settings) => {
    await using redis = await startRedis()
    const client = new Redis(redis.url)
    await restoreKeys(client, join(folder, `${name}.json`))
    client.disconnect()
    const before = asked[name]!
    const { now, stats } = await goesOn('worker', { REDIS_URL: redis.url, ...settings })
    expect(allOf(before, now)).toEqual(ALL)
    const ofOthers = now.filter((page) => page !== BROKEN)
    const twice = ofOthers.filter((page, at) => ofOthers.indexOf(page) !== at)
    const again = [...new Set(ofOthers)].filter((page) => before.includes(page))
    const counted = (stats['scheduler/redelivered'] ?? 0) + (stats['dupefilter/taken_over'] ?? 0)
    expect(again.length + twice.length, `again: ${again}; twice: ${twice}`).toBeLessThanOrEqual(counted)
    const mayComeTwice = new Set(before.slice(-UNTOLD_MAX).flatMap(linksOf))
    const unexplained = (pages: readonly number[]) => pages.filter((page) => !mayComeTwice.has(page))
    expect(unexplained(twice), 'fetched twice').toEqual([])
    expect(unexplained(again).length, `fetched again: ${again}`).toBeLessThanOrEqual(IN_WORK_MAX)
  })

  test('JOBDIR', async () => {
    await using job = await tempDir()
    cpSync(join(folder, 'jobdir'), job.path, { recursive: true })
    const { now } = await goesOn('crawl', { JOBDIR: job.path })
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
