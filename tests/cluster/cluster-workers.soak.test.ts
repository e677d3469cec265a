/**
 * Two releases of a spider in one crawl, with the protocol's own times: most of it is waiting. And worker processes that have no Redis,
 * or grow too large.
 */

import { startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import {
  ClusterFolder,
  expectComplete,
  fetchCounts,
  followingSpider,
  messagesOf,
  settingsOf,
} from './cluster-crawl.ts'
import { twoReleases } from './cluster-releases.ts'
import { endsWithoutRedis } from './cluster-rounds.ts'

test.each(['turns', 'job'] as const)(
  'QUEUE_MODE=%s: two releases at once: what the older one does not know is rejected, and crawled by the newer',
  (mode) => twoReleases(mode),
)

test.each([{ words: [] }, { words: ['--processes', '2'] }])(
  'a worker without Redis ends with 3, names the host and hides the password: $words',
  ({ words }) => endsWithoutRedis(...words),
)

test('a worker process over MEMUSAGE_LIMIT_MB leaves, and another takes its place', async () => {
  await using redis = await startRedis()
  await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 80, latencyMs: 200 })
  // The first process that comes here grows, and no other.
  const growing = followingSpider(web, 'static hoard: Buffer[] = []')
    .replace('import {', "import { existsSync, writeFileSync } from 'node:fs'\nimport {")
    .replace(
      'yield { url: response.url }',
      `if (!existsSync('grown')) {
      writeFileSync('grown', '')
      Pages.hoard.push(Buffer.alloc(400 * 2 ** 20, 1))
    }
    yield { url: response.url }`,
    )
  const limited = { MEMUSAGE_LIMIT_MB: 450, MEMUSAGE_CHECK_INTERVAL_SECONDS: 0.2, CONCURRENT_REQUESTS: 4 }
  await using folder = await ClusterFolder.of(web, settingsOf(redis, 'grows', limited), growing)
  const { code, stderr } = await folder.worker('all', '--processes', '2').exited
  expect(code, stderr).toBe(0)
  expect(messagesOf({ stderr }).join('\n')).toMatch(
    /was over MEMUSAGE_LIMIT_MB and has left; another takes its place/,
  )
  expect(await expectComplete(web, folder)).toBe(0)
  expect(fetchCounts(await web.hits()).size).toBe(web.linked().size)
})
