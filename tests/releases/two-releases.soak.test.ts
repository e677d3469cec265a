/** Workers of this release and of the one before in one crawl, an upgrade in its middle, and the way back. */

import { type FakeWebProcess, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ClusterFolder,
  expectComplete,
  fetchCounts,
  followingSpider,
  STATS_EACH_SECOND,
  settingsOf,
} from '../cluster/cluster-crawl.ts'
import { OlderRelease } from './older-release.ts'

const STARTED_MS_MAX = 60_000
const CONCURRENCY = 4

let older: OlderRelease
beforeAll(async () => {
  older = await OlderRelease.build()
}, 1_800_000)
afterAll(() => older?.[Symbol.asyncDispose]())

const WEB = { hosts: 6, pagesPerHost: 100, crossHostLinks: 0.2, latencyMs: 60 }

class TwoFolders implements AsyncDisposable {
  readonly old: ClusterFolder
  readonly now: ClusterFolder

  private constructor(old: ClusterFolder, now: ClusterFolder) {
    this.old = old
    this.now = now
  }

  static async of(web: FakeWebProcess, settings: Readonly<Record<string, unknown>>): Promise<TwoFolders> {
    const all = { CONCURRENT_REQUESTS: CONCURRENCY, ROBOTSTXT_OBEY: false, ...settings }
    const spider = followingSpider(web)
    const [old, now] = await Promise.all([
      ClusterFolder.of(web, all, spider, 1, older.home),
      ClusterFolder.of(web, all, spider),
    ])
    return new TwoFolders(old, now)
  }

  itemUrls = () => [...this.old.itemUrls(), ...this.now.itemUrls()]
  counted = (...keys: string[]) => this.old.counted(...keys) + this.now.counted(...keys)

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.old[Symbol.asyncDispose](), this.now[Symbol.asyncDispose]()])
  }
}

/** Of a worker, once it takes part. */
async function joined(folder: ClusterFolder, name: string) {
  const worker = folder.worker(name)
  await worker.waitForOutput(/note: crawl/, STARTED_MS_MAX)
  return worker
}

/** Until so many pages more were asked for. */
const pagesMore = async (web: FakeWebProcess, count: number) =>
  web.waitForHits((await web.hitCount()) + count, STARTED_MS_MAX)

describe.each(['turns', 'job'] as const)('QUEUE_MODE=%s', (mode) => {
  test('an upgrade in the middle of a crawl, and the way back: nothing is lost, nothing is fetched twice', async () => {
    await using redis = await startRedis({ appendonly: 'everysec' })
    await using web = await startFakeWebProcess(WEB)
    await using folders = await TwoFolders.of(web, {
      ...settingsOf(redis, 'upgrade', STATS_EACH_SECOND),
      QUEUE_MODE: mode,
      SCHEDULER_PERSIST: true,
    })
    // Each is stopped before the next begins, then both directions again with both at work.
    const first = await joined(folders.old, 'first')
    await pagesMore(web, 60)
    first.kill('SIGTERM')
    expect((await first.exited).code).toBe(143)
    const upgraded = await joined(folders.now, 'upgraded')
    await pagesMore(web, 60)
    upgraded.kill('SIGTERM')
    expect((await upgraded.exited).code).toBe(143)
    const back = await joined(folders.old, 'back')
    await pagesMore(web, 60)
    const beside = await joined(folders.now, 'beside')
    await pagesMore(web, 60)
    back.kill('SIGTERM')
    expect((await back.exited).code).toBe(143)
    const again = await joined(folders.old, 'again')
    const ended = await Promise.all([beside.exited, again.exited])
    for (const { code, stderr } of ended) expect(code, stderr).toBe(0)
    expect(await expectComplete(web, folders)).toBe(0)
  })

  test.each(['old', 'now'] as const)(
    'a killed worker of the other release is taken over (%s)',
    async (stays) => {
      await using redis = await startRedis({ appendonly: 'everysec' })
      await using web = await startFakeWebProcess(WEB)
      await using folders = await TwoFolders.of(web, {
        ...settingsOf(redis, `killed-${stays}`, STATS_EACH_SECOND),
        QUEUE_MODE: mode,
      })
      const survivor = await joined(folders[stays], 'survivor')
      const killed = await joined(folders[stays === 'old' ? 'now' : 'old'], 'killed')
      await pagesMore(web, 100)
      killed.kill('SIGKILL')
      await killed.exited
      const { code, stderr } = await survivor.exited
      expect(code, stderr).toBe(0)
      // What the killed one had in work, and what it had fetched without saying so.
      await expectComplete(web, folders, { more: 2 * CONCURRENCY })
    },
  )
})

test('a JOBDIR goes from the one to the other and back', async () => {
  await using web = await startFakeWebProcess(WEB)
  await using folders = await TwoFolders.of(web, {})
  const jobDir = folders.now.path('job')
  const crawl = (folder: ClusterFolder, ...words: string[]) =>
    folder.run('crawl', 'pages', '-s', `JOBDIR=${jobDir}`, ...words)
  for (const folder of [folders.old, folders.now, folders.old]) {
    const pages = 100 + (await web.hitCount())
    const { code, stderr } = await crawl(folder, '-s', 'CLOSESPIDER_PAGECOUNT=100')
    expect(code, stderr).toBe(0)
    expect(await web.hitCount()).toBeGreaterThanOrEqual(pages)
  }
  const { code, stderr } = await crawl(folders.now)
  expect(code, stderr).toBe(0)
  const counts = fetchCounts(await web.hits())
  expect([...web.linked()].filter((url) => !counts.has(url))).toEqual([])
  expect([...counts].filter(([, count]) => count > 1)).toEqual([])
})
