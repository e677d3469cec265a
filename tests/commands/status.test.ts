import { Request } from '@webloom/core'
import { BucketQueue, crawlRedisKeys } from '@webloom/queue'
import { type RedisServer, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { ClusterFolder, seededSpider } from '../cluster/cluster-crawl.ts'

let queueRedis: RedisServer
let itemsRedis: RedisServer
beforeAll(async () => {
  ;[queueRedis, itemsRedis] = await Promise.all([startRedis(), startRedis()])
})
afterAll(() => Promise.all([queueRedis.stop(), itemsRedis.stop()]))
beforeEach(() => Promise.all([queueRedis.command('FLUSHALL'), itemsRedis.command('FLUSHALL')]))

const page = (host: string, n: number, priority = 0) => ({
  id: `${host}/${n}`,
  request: new Request(`http://${host}.test/${n}`, { priority }),
})

/** A crawl as a worker left it: one host that is paused, one that is slow, one that is long, many that are short. */
async function leaveCrawl(): Promise<void> {
  const redis = new Redis(queueRedis.url, { maxRetriesPerRequest: null })
  const queue = new BucketQueue({
    redis,
    keys: crawlRedisKeys({ spider: 'pages', crawlId: null }),
    workerId: 'test:1:x',
    hosts: { pace: () => ({ delayMs: 0, concurrency: 0, randomize: false }) },
  })
  await queue.open()
  await queue.push([page('paused', 1, 9), page('slow', 1, 8)], 'o')
  const [paused, slow] = [...(await queue.lease(1)), ...(await queue.lease(1))]
  for (const lease of [paused, slow]) lease!.started()
  const host = { failures: 4, pauseMs: 90_000, pauseReason: 'Retry-After\u001b[31m' }
  await queue.commit(paused!, { children: [page('paused', 2)], host })
  await queue.commit(slow!, { children: [page('slow', 2), page('slow', 3)], host: { delayMs: 30_000 } })
  const many = Array.from({ length: 30 }, (_, n) => page(`short${n}`, 1))
  await queue.push([page('long', 1), page('long', 2, 5), page('long', 3, -1), ...many], 'p')
  await queue.close()
  redis.disconnect()
}

test('status shows hosts with a line, the paused ones first, seeds and items that wait', async () => {
  await leaveCrawl()
  await using web = await startFakeWebProcess({ pagesPerHost: 1 })
  const settings = { QUEUE_REDIS_URL: queueRedis.url, REDIS_URL: itemsRedis.url, DOWNLOAD_DELAY: 2.5 }
  await using folder = await ClusterFolder.of(web, settings, seededSpider([]))
  await itemsRedis.command('RPUSH', 'pages:start_urls', 'http://a.test/', 'http://b.test/')
  await itemsRedis.command('XADD', 'pages:items', '*', 'item', '{}')

  const { stdout, stderr } = await folder.run('status', 'pages')
  const lines = stdout.split('\n')
  const from = lines.findIndex((line) => line.startsWith('  hosts '))
  expect(lines[from], stdout + stderr).toBe('  hosts     paused ones, then those with the most waiting')
  expect(lines[from + 1]).toMatch(
    /^ {4}paused\.test {3}waiting 1 · in flight 0 · delay 2\.5 s · paused for 1 min \d+ s \(Retry-After.*31m\) · 4 failures in a row$/,
  )
  expect(lines[from + 1]).not.toContain('\u001b')
  expect(lines[from + 2]).toBe('    long.test   waiting 3 · in flight 0 · delay 2.5 s')
  expect(lines[from + 3]).toMatch(
    /^ {4}slow\.test {3}waiting 2 · in flight 0 · delay 30 s · next in (?:30|[12]\d(?:\.\d)?) s$/,
  )
  expect(lines.filter((line) => line.includes('.test   waiting'))).toHaveLength(20)
  expect(stdout).toMatch(/^crawl "\w+" {3}\w+/)
  expect(stdout).toMatch(/^ {2}seeds {5}waiting 2 · in work 0 · invalid 0$/m)
  expect(stdout).toMatch(/^ {2}items {5}queued 1$/m)

  const seen = JSON.parse((await folder.run('status', 'pages', '--json')).stdout)
  expect(seen).toMatchObject({
    mode: 'turns',
    counts: { waiting: 36, leased: 0 },
    seeds: { waiting: 2, inWork: 0, invalid: 0 },
    itemsQueued: 1,
  })
  expect(seen.hosts[0]).toMatchObject({
    slot: 'paused.test',
    waiting: 1,
    delayed: 0,
    leased: 0,
    delayMs: 2500,
    failures: 4,
    pauseReason: expect.stringContaining('Retry-After'),
  })
})

test('status --host tells of one host what waits, its state and who has it, even of one that was never met', async () => {
  await leaveCrawl()
  await using web = await startFakeWebProcess({ pagesPerHost: 1 })
  const settings = { QUEUE_REDIS_URL: queueRedis.url, REDIS_URL: itemsRedis.url }
  await using folder = await ClusterFolder.of(web, settings, seededSpider([]))
  const hostsOf = async (host: string) =>
    JSON.parse((await folder.run('status', 'pages', '--host', host, '--json')).stdout).hosts

  // Of 33 hosts it would not be among the 20 that are shown.
  expect(await hostsOf('short29.test')).toMatchObject([{ slot: 'short29.test', state: 'ready', waiting: 1 }])
  expect(await hostsOf('short29.test:8080'), 'as it is shown elsewhere').toMatchObject([
    { slot: 'short29.test' },
  ])
  expect(await hostsOf('slow.test')).toMatchObject([{ state: 'later', waiting: 2, leased: 0, holders: [] }])
  expect(await hostsOf('never:met')).toMatchObject([{ slot: 'never:met', state: 'none', waiting: 0 }])
  const { stdout, stderr } = await folder.run('status', 'pages', '--host', 'long.test')
  expect(stdout, stderr).toMatch(/^ {2}host {6}ready · its bucket is with no worker$/m)
  expect(stdout).toMatch(/^ {4}long\.test {3}waiting 3 · in flight 0$/m)
  expect(stdout.match(/\.test {3}waiting/g)).toHaveLength(1)

  const misspelt = await folder.run('host', 'pages', 'lng.test')
  expect(misspelt.stdout, misspelt.stderr).toMatch(
    /nothing of that host is queued now\. Hosts of which something is: paused\.test, .*\n$/,
  )
})

test('it tells the delay that the workers have, and that somebody has ordered, and not its own', async () => {
  await using web = await startFakeWebProcess({ pagesPerHost: 20 })
  const settings = { REDIS_URL: queueRedis.url, CRAWL_ID: 'slow', RANDOMIZE_DOWNLOAD_DELAY: false }
  await using folder = await ClusterFolder.of(web, settings)
  const worker = folder.worker('a', '-s', 'DOWNLOAD_DELAY=6')
  await web.waitForHits(1, 20_000)
  const [host] = web.seeds.map((url) => new URL(url).hostname)
  const delays = async (...words: string[]) => {
    const { stdout, stderr } = await folder.run(
      'status',
      'pages',
      '--json',
      '-s',
      'DOWNLOAD_DELAY=99',
      ...words,
    )
    return JSON.parse(stdout || stderr).hosts.map(({ delayMs }: { delayMs: number }) => delayMs)
  }
  await vi.waitFor(async () => expect(await delays()).toEqual([6000]), { timeout: 10_000 })
  expect((await folder.run('host', 'pages', host!, '--delay', '20')).code).toBe(0)
  expect(await delays()).toEqual([20_000])
  expect(await delays('--host', host!)).toEqual([20_000])
  worker.kill('SIGTERM')
  await worker.exited
})

test('in job mode it says that each worker keeps its own pace', async () => {
  await using web = await startFakeWebProcess({ pagesPerHost: 1 })
  const settings = { REDIS_URL: queueRedis.url, QUEUE_MODE: 'job', CRAWL_ID: 'jobs' }
  await using folder = await ClusterFolder.of(web, settings)
  const redis = new Redis(queueRedis.url)
  await redis.zadd('webloom:{pages@jobs}:prioritized', 1, 'r-1')
  redis.disconnect()
  const { stdout } = await folder.run('status', 'pages')
  expect(stdout).toMatch(/^ {2}hosts {5}each worker keeps its own pace \(QUEUE_MODE=job\)$/m)
})

test('what another release has begun is read by no command, and is named with the release that can', async () => {
  await using web = await startFakeWebProcess({ pagesPerHost: 1 })
  await using folder = await ClusterFolder.of(web, { REDIS_URL: queueRedis.url })
  await queueRedis.command('HSET', 'webloom:{pages}:record', 'state', 'stopped', 'format', '9')
  await queueRedis.command('HSET', 'webloom:{pages}:record', 'release', '9.1.0')
  for (const words of [['status'], ['failed', 'list'], ['quarantine', 'list'], ['failed', 'drop']]) {
    const all = words.at(-1) === 'drop' ? ['--all'] : []
    const { code, stdout, stderr } = await folder.run(...words, 'pages', ...all)
    expect([words, code, stdout]).toEqual([words, 2, ''])
    expect(stderr).toMatch(/was begun by Webloom 9\.1\.0 .*npm install webloom@9\.1\.0/)
  }
})
