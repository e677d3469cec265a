/** Workers of two releases of a spider in one crawl. */

import { startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect } from 'vitest'
import { ClusterFolder, expectComplete, freshCrawlId, seededSpider } from './cluster-crawl.ts'

/** What the older one does not know is rejected, and crawled by the newer. */
export async function twoReleases(mode: 'turns' | 'job'): Promise<void> {
  const crawlId = freshCrawlId(`releases-${mode}`)
  await using redis = await startRedis()
  await using web = await startFakeWebProcess({
    hosts: 8,
    pagesPerHost: 12,
    crossHostLinks: 0.2,
    latencyMs: 60,
  })
  const older = seededSpider([])
  // The newer one has a callback more, for every second page.
  const newer = older.replace('yield* response.followAll()', 'yield* this.follow(response)').replace(
    'async *parse(',
    `async *follow(response: Response) {
  for (const request of response.followAll())
    yield /[02468]\\.html$/.test(request.url) ? request.replace({ callback: this.parseDetail }) : request
}
async *parseDetail(response: Response) {
  yield { url: response.url, detail: true }
  yield* this.follow(response)
}
async *parse(`,
  )
  await using folder = await ClusterFolder.of(
    web,
    {
      REDIS_URL: redis.url,
      CRAWL_ID: crawlId,
      QUEUE_MODE: mode,
      CONCURRENT_REQUESTS: 4,
      LOG_FORMAT: 'json',
    },
    newer,
  )
  // So slow that it leaves much to the others, however long they take to start.
  const first = folder.worker('first', '-a', 'maxIdleTime=0', '-s', 'DOWNLOAD_DELAY=3')
  await first.waitForOutput(/note: crawl/, 60_000)
  await redis.command('RPUSH', `pages:${crawlId}:start_urls`, ...web.seeds)
  await web.waitForHits(10, 60_000)
  folder.writeSpider(older)
  const ofOlder = folder.worker('older', '-a', 'maxIdleTime=0')
  await ofOlder.waitForOutput(/note: crawl/, 60_000)
  // What the newer one has queued is the older one's now.
  first.kill('SIGTERM')
  await ofOlder.waitForOutput(/rejected: this worker cannot do it/, 60_000)
  folder.writeSpider(newer)
  const ofNewer = folder.worker('newer', '-a', 'maxIdleTime=0')
  await web.waitForHits(web.linked().size, 120_000)
  expect((await folder.run('stop', 'pages')).code).toBe(0)
  const ended = await Promise.all([ofNewer.exited, ofOlder.exited])
  for (const { code, stderr } of ended) expect(code, stderr).toBe(0)
  expect((await first.exited).code).toBe(143)
  expect(await expectComplete(web, folder)).toBe(0)
}
