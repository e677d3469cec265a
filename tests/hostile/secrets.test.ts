/** What a crawl writes where others may read it holds none of the secrets of its settings. */

import { readFileSync } from 'node:fs'
import { startFakeWeb, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'

test('no log, error, stats file or status shows a password of the settings', {
  timeout: 60_000,
}, async () => {
  const redis = await startRedis()
  await redis.command('ACL', 'SETUSER', 'loom', 'on', '>planted1', '>planted2', '~*', '&*', '+@all')
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 5 })
  const closed = 'http://127.0.0.1:9'
  await using folder = await ClusterFolder.of(web, {
    REDIS_URL: redis.url.replace('://', '://loom:planted1@'),
    REDIS_PARAMS: { username: 'loom', password: 'planted2' },
    HTTPAUTH_USER: 'loom',
    HTTPAUTH_PASS: 'planted3',
    HTTPAUTH_DOMAIN: '127.0.0.1',
    AWS_ACCESS_KEY_ID: 'planted4',
    AWS_SECRET_ACCESS_KEY: 'planted5',
    AWS_REGION_NAME: 'eu-west-1',
    AWS_ENDPOINT_URL: closed,
    LOG_LEVEL: 'DEBUG',
    RETRY_TIMES: 0,
    REDIS_START_TIMEOUT: 5,
  })
  const spider = readFileSync(folder.path('spiders/pages.ts'), 'utf8')
  const feeds = JSON.stringify({ 's3://planted6:planted7@bucket/x.jsonl': { format: 'jsonl' } })
  const crawl = (id: string, ...more: string[]) =>
    folder.run('crawl', 'pages', '-s', `CRAWL_ID=${id}`, '--stats-file', `stats-${id}.json`, ...more)
  // One after the other, in one process.
  const told = [
    await crawl('pretty', '-s', 'LOG_FORMAT=pretty'),
    await crawl('json', '-s', 'LOG_FORMAT=json'),
    await crawl('feeds', '-s', `FEEDS=${feeds}`),
  ]
  expect(told.map(({ code }) => code)).toEqual([0, 0, 2])
  folder.writeSpider(
    spider.replace(
      "name = 'pages'",
      "name = 'pages'\n  async *start() { yield new Request('http://a.test/', { meta: { proxy: 'http://loom:planted8@127.0.0.1:9' } }) }",
    ),
  )
  told.push(
    await crawl('proxy', '-s', 'LOG_FORMAT=json'),
    await folder.run('status', 'pages', '-s', 'CRAWL_ID=json'),
  )
  expect(told.at(-2)!.stderr).toContain('127.0.0.1:9')
  await redis.command('ACL', 'SETUSER', 'loom', 'resetpass', '>other')
  told.push(await crawl('refused', '-s', 'LOG_FORMAT=json'))
  expect(told.at(-1)!.stderr).toContain('WRONGPASS')
  const files = ['pretty', 'json', 'proxy'].map((id) => readFileSync(folder.path(`stats-${id}.json`), 'utf8'))
  const all = [...told.flatMap(({ stdout, stderr }) => [stdout, stderr]), ...files].join('\n')
  expect(all.match(/.{0,80}planted.{0,20}/g)).toBeNull()
  await redis.stop()
})
