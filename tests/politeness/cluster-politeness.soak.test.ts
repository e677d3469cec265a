/** Politeness of a cluster, measured at the servers. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type FakeWebProcess, type RedisServer, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'
import type { Running } from '../projects/command-hosts.ts'
import { GAP_SLACK_MS, paceRound, workersOf } from './cluster-politeness.ts'

/** For so long pages are counted, and then what goes without any. */
const [MEASURED_MS, QUIET_MS] = [60_000, 30_000]

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

describe('thirty hosts with delays of 0.2 to 1 s', () => {
  const hosts = 30
  const windowMs = 30_000

  test('one that answers 429 and one that hangs cost the others nothing', async () => {
    const [without, withBad]: [number[][], number[][]] = [[], []]
    for (let round = 0; round < 3; round++) {
      const options = { redis, hosts, restarts: false, windowMs }
      without.push([...(await paceRound({ ...options, withBadHosts: false })).shares])
      withBad.push([...(await paceRound({ ...options, withBadHosts: true })).shares])
    }
    const [expected, got] = [medians(without), medians(withBad)]
    console.log(`shares without: ${shown(expected)}\nwith bad ones:  ${shown(got)}`)
    for (const [n, share] of got.entries()) {
      expect(share).toBeGreaterThanOrEqual(0.95)
      expect(Math.abs(share / expected[n]! - 1)).toBeLessThanOrEqual(0.1)
    }
  })

  test('the same when all workers are replaced', async () => {
    const { shares } = await paceRound({ redis, hosts, withBadHosts: true, restarts: true, windowMs })
    for (const share of shares) expect(share).toBeGreaterThanOrEqual(0.95)
  })
})

describe('one host with 2 000 requests queued', () => {
  test('a delay of 0.5 s: two pages a second, and few commands', async () => {
    await using web = await startFakeWebProcess({ pagesPerHost: 2100, latencyMs: 20 })
    await using folder = await oneHost(web, 'half', 0.5)
    const workers = workersOf(folder, 'w')
    await whenAllAreQueued(folder, workers)

    const [before, hitsBefore] = [await calls(redis), await web.hitCount()]
    // Waits: the minute that is measured.
    await sleep(MEASURED_MS)
    const [after, hitsAfter] = [await calls(redis), await web.hitCount()]
    const pages = hitsAfter - hitsBefore
    // What four workers tell of themselves is no page's: measured where nothing goes.
    expect((await folder.run('pause', 'pages')).code).toBe(0)
    // Waits: until all workers have heard of it and have given back what they held.
    await sleep(15_000)
    const [quiet, hitsQuiet] = [await calls(redis), await web.hitCount()]
    // Waits: the time without pages that is measured.
    await sleep(QUIET_MS)
    const quietAfter = await calls(redis)
    expect(await web.hitCount(), 'nothing goes').toBe(hitsQuiet)
    const ofPages = (what: 'all' | 'scripts') => {
      const beats = (MEASURED_MS / QUIET_MS) * (quietAfter[what] - quiet[what])
      return (after[what] - before[what] - beats) / pages
    }
    const [commands, scripts] = [ofPages('all'), ofPages('scripts')]
    console.log(
      `${pages} pages in 60 s, ${commands.toFixed(1)} commands (${quietAfter.all - quiet.all} in 30 s without) and ${scripts.toFixed(2)} scripts a page`,
    )
    expect(pages).toBeGreaterThanOrEqual(114)
    expect(pages).toBeLessThanOrEqual(122)
    expect((await web.log()).smallestGapMs(0)).toBeGreaterThanOrEqual(500 - GAP_SLACK_MS)
    expect(commands).toBeLessThanOrEqual(30)
    expect(commands, 'a page is taken and ended').toBeGreaterThan(5)
    expect(scripts).toBeLessThanOrEqual(3)
    const workersBeat = (quietAfter.all - quiet.all) / (QUIET_MS / 1000) / workers.length
    expect(workersBeat, 'a worker that waits, each second').toBeLessThanOrEqual(10)
    await folder.run('stop', 'pages')
    await Promise.all(workers.map(({ exited }) => exited))
  })

  test('what is urgent goes within two delays', async () => {
    await using web = await startFakeWebProcess({ pagesPerHost: 2100, latencyMs: 20 })
    await using folder = await oneHost(web, 'urgent', 1, 'RedisSpider')
    const workers = workersOf(folder, 'w')
    await whenAllAreQueued(folder, workers)
    const urgent = web.pageUrl(0, 2050)
    await redis.command('RPUSH', 'pages:urgent:start_urls', JSON.stringify({ url: urgent, priority: 100 }))
    const askedAtMs = performance.now()
    await web.waitForHits(1, 10_000, urgent)
    const { atMs } = (await web.hits()).find(({ url }) => url === urgent)!
    // Seeds are looked for each 0.3 s.
    expect(atMs - askedAtMs).toBeLessThan(2 * 1000 + 300)
    await folder.run('stop', 'pages')
    await Promise.all(workers.map(({ exited }) => exited))
  })

  test('a delay that was 5 s and is 0.2 s now takes effect with the next request', async () => {
    await using web = await startFakeWebProcess({ pagesPerHost: 2100, latencyMs: 20 })
    await using folder = await oneHost(web, 'faster', 5)
    const slow = workersOf(folder, 'slow')
    await web.waitForHits(2, 60_000)
    for (const worker of slow) worker.kill('SIGTERM')
    await Promise.all(slow.map(({ exited }) => exited))
    const asked = await web.hitCount()
    folder.configure({ DOWNLOAD_DELAY: 0.2 })
    const fast = workersOf(folder, 'fast')
    await web.waitForHits(asked + 10, 60_000)
    const starts = (await web.log()).starts(0).slice(asked)
    const gaps = starts.slice(1).map((atMs, n) => atMs - starts[n]!)
    expect(Math.max(...gaps)).toBeLessThan(600)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(200 - GAP_SLACK_MS)
    await folder.run('stop', 'pages')
    await Promise.all(fast.map(({ exited }) => exited))
  })
})

function oneHost(
  web: FakeWebProcess,
  crawlId: string,
  delay: number,
  base: 'Spider' | 'RedisSpider' = 'Spider',
): Promise<ClusterFolder> {
  const settings = {
    REDIS_URL: redis.url,
    CRAWL_ID: crawlId,
    DOWNLOAD_DELAY: delay,
    RANDOMIZE_DOWNLOAD_DELAY: false,
    START_LOW_WATER: 100_000,
    ROBOTSTXT_OBEY: false,
    LOG_FORMAT: 'json',
    SHUTDOWN_GRACE: 2,
  }
  const paths = Array.from({ length: 2000 }, (_, n) => web.pageUrl(0, n))
  const spider = `import { ${base}, Request } from 'webloom'

export default class Pages extends ${base} {
  name = 'pages'
  async *start() {
    for (const url of ${JSON.stringify(paths)}) yield new Request(url)
  }
  parse() {}
}
`
  return ClusterFolder.of(web, settings, spider)
}

async function whenAllAreQueued(folder: ClusterFolder, workers: readonly Running[]): Promise<void> {
  await Promise.all(workers.map((worker) => worker.waitForOutput(/note: crawl/, 60_000)))
  const deadline = performance.now() + 120_000
  for (;;) {
    const { start } = JSON.parse((await folder.run('status', 'pages', '--json')).stdout)
    if (start.ended) return
    if (performance.now() > deadline) throw new Error('start() has not ended within two minutes')
    // Waits: between two looks.
    await sleep(500)
  }
}

/** How many commands a Redis has done so far, and how many scripts. */
async function calls(server: RedisServer): Promise<{ all: number; scripts: number }> {
  const text = String(await server.command('INFO', 'commandstats'))
  const counts = [...text.matchAll(/cmdstat_([^:]+):calls=(\d+)/g)].map(
    ([, name, n]) => [name!, Number(n)] as const,
  )
  const sum = (of: (name: string) => boolean) =>
    counts.filter(([name]) => of(name)).reduce((all, [, n]) => all + n, 0)
  // Commands that scripts run are counted there as well.
  return { all: sum(() => true), scripts: sum((name) => /^(evalsha|eval|fcall)/.test(name)) }
}

function medians(rounds: readonly (readonly number[])[]): number[] {
  return rounds[0]!.map((_, n) => rounds.map((shares) => shares[n]!).sort((a, b) => a - b)[1]!)
}

function shown(shares: readonly number[]): string {
  return shares.map((share) => share.toFixed(2)).join(' ')
}
