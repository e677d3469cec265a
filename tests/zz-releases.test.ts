import { startFakeWebProcess, startRedis } from '@webloom/testkit'
import { test } from 'vitest'
import { ClusterFolder, fetchCounts, messagesOf, seededSpider } from './cluster-crawl.ts'
test.concurrent.each(['turns', 'job'])('all new %s', { timeout: 300_000 }, async (mode) => {
  await using redis = await startRedis()
  await using web = await startFakeWebProcess({ hosts: 8, pagesPerHost: 25, crossHostLinks: 0.2, latencyMs: 200 })
  const older = seededSpider([])
  const newer = older.replace('yield* response.followAll()', 'yield* this.follow(response)').replace('async *parse(', `async *follow(response: Response) {
    for (const request of response.followAll()) yield request.replace({ callback: this.parseDetail })
  }
  async *parseDetail(response: Response) {
    yield { url: response.url }
    yield* this.follow(response)
  }
  async *parse(`)
  await using folder = await ClusterFolder.of(web, { REDIS_URL: redis.url, QUEUE_MODE: mode, CONCURRENT_REQUESTS: 4, LOG_FORMAT: 'json' }, newer)
  const a = folder.worker('newer', '-a', 'maxIdleTime=0')
  await a.waitForOutput(/note: crawl/, 60_000)
  folder.writeSpider(older)
  const b = folder.worker('older', '-a', 'maxIdleTime=0')
  await b.waitForOutput(/note: crawl/, 60_000)
  await redis.command('RPUSH', 'pages:start_urls', ...web.seeds)
  await web.waitForHits(web.linked().size, 120_000).catch(() => {})
  const seen = JSON.parse((await folder.run('status', 'pages', '--json')).stdout)
  console.log(mode, JSON.stringify(seen.counts), JSON.stringify(seen.stats), fetchCounts(await web.hits()).size, web.linked().size)
  await folder.run('stop', 'pages')
  console.log(mode, 'given back', messagesOf(b).length, (await a.exited).code, (await b.exited).code)
})
