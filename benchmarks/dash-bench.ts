/**
 * What a refresh of the dashboard costs a crawl's Redis, by its own count (INFO commandstats): once a second, however many look.
 *
 *     node_modules/.bin/node --conditions=webloom-source benchmarks/dash-bench.ts [--queued 1e6] [--hosts 1e5] [--workers 8] [--looks 20]
 *
 * A crawl with so many requests queued at so many hosts; its workers have told 200 entries of each list and 120 stats each, and its ledger
 * of failures is full. Each view is read as its page reads it, and /metrics as Prometheus does. Redis is a process of its own without persistence.
 *
 *     npm run build && node_modules/.bin/node --conditions=webloom-source benchmarks/dash-bench.ts --crawl 12 [--pages 1000] [--workers 2] [--seconds 5] [--browsers]
 *
 * The rate that a crawl keeps while two pages are open and /metrics is scraped every five seconds, and the processor time that each
 * process takes, side by side: for so many rounds of four times `--seconds`, which is once for each scrape. The result is the median of the
 * rounds, with how sure it is: twelve take five minutes, and the machine must have nothing else to do. So many `--pages` wait at any moment. With `--browsers`
 * the pages are open in a browser on this machine, else their events are read as one reads them.
 */
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { type CrawlDesk, silentLogger } from '../packages/core/src/index.ts'
import { Request } from '../packages/core/src/requests/request.ts'
import { metricsRoutes } from '../packages/dashboard/src/metrics/metrics-routes.ts'
import { BucketQueue } from '../packages/queue/src/buckets/bucket-queue.ts'
import { noteCrawl } from '../packages/queue/src/outside/crawl-registry.ts'
import { crawlRedisKeys } from '../packages/queue/src/redis/crawl-redis-keys.ts'
import { startRedis } from '../packages/testkit/src/redis/redis-server.ts'
import { RegistryDesks } from '../packages/webloom/src/desk/registry-desks.ts'
import { deskServers } from '../packages/webloom/src/redis/desk-servers.ts'
import { reportWatchedCrawl } from './watched/report.ts'

const { values } = parseArgs({
  options: {
    queued: { type: 'string', default: '1e6' },
    hosts: { type: 'string', default: '1e5' },
    workers: { type: 'string' },
    looks: { type: 'string', default: '20' },
    crawl: { type: 'string' },
    pages: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '5' },
    browsers: { type: 'boolean', default: false },
  },
})
if (values.crawl !== undefined) {
  await reportWatchedCrawl({
    rounds: Number(values.crawl),
    waiting: Number(values.pages),
    workers: Number(values.workers ?? 2),
    windowMs: 1000 * Number(values.seconds),
    browsers: values.browsers,
  })
  process.exit()
}

const [QUEUED, HOSTS, WORKERS, LOOKS] = [
  Number(values.queued),
  Number(values.hosts),
  Number(values.workers ?? 8),
  Number(values.looks),
]
const STATS = 120
const BATCH = 1000

await using server = await startRedis()
const redis = new Redis(server.url, { maxRetriesPerRequest: null })
const keys = crawlRedisKeys({ spider: 'bench', crawlId: null })

await fillQueue()
await fillMembers()
await fillFailures()
const desks = new RegistryDesks(deskServers({ redis: [server.url] }, undefined))
const desk = (await desks.desk('bench'))!
for (const [name, look] of views(desk)) await report(name, look)
await desks.close()
redis.disconnect()

async function fillQueue(): Promise<void> {
  const pace = { delayMs: 1000, concurrency: 1, randomize: false }
  const queue = new BucketQueue({
    redis,
    keys,
    workerId: 'bench:1:x',
    hosts: { pace: () => pace },
    logger: silentLogger,
  })
  await queue.open()
  for (let from = 0; from < QUEUED; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, QUEUED - from) }, (_, n) => ({
      id: (from + n).toString(16).padStart(40, '0'),
      request: new Request(`https://host-${(from + n) % HOSTS}.example/a/page?number=${from + n}`, {
        callback: 'parse',
      }),
    }))
    await queue.push(batch, `bench/${from}`)
    await queue.settled(`bench/${from}`)
  }
  await queue.close()
}

/** What workers tell: heartbeats, lists of hosts, stats and a day of samples. */
async function fillMembers(): Promise<void> {
  const now = Date.now()
  const run = { state: 'running', run: 'r', begunAt: String(now - 3_600_000), startEnded: '1', format: '2' }
  await redis.hset(keys.record, run)
  await noteCrawl(redis, { spider: 'bench', crawlId: null, statsKey: 'bench:stats', release: '0.0.0' })
  const named = (n: number) => `a-host-with-a-usual-name-${n}.example`
  const failing = Array.from({ length: 200 }, (_, n) => ({
    host: named(n),
    failures: n,
    lastError: '500 Internal Server Error',
    seenAtMs: now,
  }))
  const mostQueued = Array.from({ length: 200 }, (_, n) => ({ slot: named(n), waiting: 1000 - n }))
  const slowest = Array.from({ length: 200 }, (_, n) => ({
    host: named(n),
    latencyMs: 900 + n,
    seenAtMs: now,
  }))
  await redis.hset('bench:stats', { begunAt: run.begunAt })
  for (let n = 0; n < WORKERS; n++) {
    const id = `machine-${n}:1:x`
    const entry = {
      at: now + 3_600_000,
      id,
      host: 'machine',
      pid: 1,
      startedAt: new Date(now),
      pagesPerMinute: 1000,
      downloading: 16,
    }
    await redis.hset(keys.workers, id, JSON.stringify(entry))
    await redis.hset(
      keys.hostLists,
      id,
      JSON.stringify({ at: now, sentAt: now, failing, mostQueued, slowest }),
    )
    const stats = Array.from(
      { length: STATS },
      (_, stat) => [`a/stat/of/some/name_${stat}`, String(stat * n)] as const,
    )
    for (const [stat, value] of stats)
      await redis.hset('bench:stats', { [`${id}|${stat}`]: value, [`total|${stat}`]: value, [stat]: value })
  }
  for (let n = 0; n < 8640; n++)
    await redis.rpush(
      keys.history,
      JSON.stringify([1, Math.round(now / 1000) - 86_400 + n * 10, n, n, 0, 1e6, 0, 16, 8, 1000, 900, 0]),
    )
}

/** A ledger that is full, of as many signatures as it tells apart, and a thousand requests in quarantine. */
async function fillFailures(): Promise<void> {
  const { failures, quarantine } = keys
  const url = 'https://a-host-with-a-usual-name.example/a/page?number=1'
  const known = { url, reason: 'status', kind: 'HttpError', message: 'status 503', status: 503 }
  const request = JSON.stringify({ v: 1, url, cb: 'parse' })
  for (let n = 0; n < 10_000; n++) {
    const signature = `status-503:${n % 100}`
    const text = JSON.stringify({ number: n, at: Date.now(), ...known, attempts: 3, worker: 'machine-1:1:x' })
    await redis
      .pipeline()
      .hset(failures, `${n}`, `${signature}\n${text}\n${request}`)
      .zadd(`${failures}:of:${signature}`, n, `${n}`)
      .zincrby(`${failures}:sizes`, 1, signature)
      .hincrby(`${failures}:signatures`, `total|${signature}`, 1)
      .hset(`${failures}:signatures`, { [`first|${signature}`]: text, [`last|${signature}`]: text })
      .exec()
  }
  await redis.hset(`${failures}:counts`, { total: 10_000 })
  for (let n = 0; n < 1000; n++) {
    const history = [{ at: Date.now(), worker: 'machine-1:1:x', what: 'the worker died' }]
    const entry = { id: `q${n}`, request: JSON.parse(request), reason: 'killed 3 workers', history }
    await redis.hset(quarantine, `q${n}`, JSON.stringify({ ...entry, quarantinedAt: Date.now() }))
  }
}

function views(desk: CrawlDesk): [name: string, look: () => Promise<unknown>][] {
  return [
    ['crawls', () => desks.crawls()],
    ['overview', () => Promise.all([desk.status(), desk.history!(Date.now() - 3_600_000)])],
    ['status alone (skips, workers, redis)', () => desk.status()],
    ['hosts', () => desk.hosts()],
    ['one host', () => desk.host('host-7.example')],
    ['failures', () => Promise.all([desk.status(), desk.failures!()])],
    ['dedup', () => Promise.all([desk.status(), desk.filter!()])],
    ['items', () => Promise.all([desk.status(), desk.items!()])],
    ['runs', () => desk.runs!()],
    // One that is made anew remembers nothing of the look before.
    ['/metrics', async () => (await metricsRoutes({ desks }).request('/metrics')).text()],
  ]
}

async function report(name: string, look: () => Promise<unknown>): Promise<void> {
  // It opens connections, and loads scripts.
  await look()
  await redis.config('RESETSTAT')
  const cpuBefore = await cpuSeconds()
  for (let n = 0; n < LOOKS; n++) await look()
  const cpuMs = (1000 * ((await cpuSeconds()) - cpuBefore)) / LOOKS
  const { ms, commands } = await commandTime()
  const words = [...commands].sort(([, a], [, b]) => b - a).slice(0, 5)
  console.log(
    JSON.stringify({
      view: name,
      redisMs: round(ms / LOOKS),
      redisCpuMs: round(cpuMs),
      mostOfIt: Object.fromEntries(words.map(([command, us]) => [command, round(us / 1000 / LOOKS)])),
    }),
  )
}

/** Scripts count what they call as their own time, too: these calls are left out. */
async function commandTime(): Promise<{ ms: number; commands: Map<string, number> }> {
  const lines = (await redis.info('commandstats')).split('\r\n')
  const commands = new Map<string, number>()
  for (const line of lines) {
    const [, command, usec] = /^cmdstat_([^:]+):calls=\d+,usec=(\d+)/.exec(line) ?? []
    if (command && !command.startsWith('config') && command !== 'ping') commands.set(command, Number(usec))
  }
  const forbidden = ['keys', 'scan'].filter((command) => commands.has(command))
  if (forbidden.length > 0) throw new Error(`a look uses ${forbidden.join(' and ')}`)
  return { ms: [...commands.values()].reduce((sum, us) => sum + us, 0) / 1000, commands }
}

async function cpuSeconds(): Promise<number> {
  const text = await redis.info('cpu')
  const of = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(text)![1])
  return of('used_cpu_user_main_thread') + of('used_cpu_sys_main_thread')
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
