/**
 * What the visits of a crawl weigh on Redis, a page: all of it, and without what is needed to ask again; and what it costs Redis to note a
 * visit and to find what is due.
 *
 *     node --conditions=webloom-source benchmarks/visits-memory-bench.ts [--pages 1e6] [--hosts 1000] [--validators date] [--as 1e7] [--queries]
 *
 * `--validators`: none; date; the date and a tag as nginx, apache or serve-static (send) make it, or md5, sha1, sha256 in hex digits; express: a tag alone.
 *
 * `--as`: how many pages the records lie as dense as; fingerprints then begin with fewer bytes. So a tenth of the pages shows what all would take.
 *
 * `--queries`: each page has a `trap_chain` of its own, as pages of a chain have; other pages with queries lose it before they are kept.
 */

import { hash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { Request, type Visit, type VisitedPage } from '@webloom/core'
import { Redis } from 'ioredis'
import { BucketQueue } from '../packages/queue/src/buckets/bucket-queue.ts'
import { crawlRedisKeys } from '../packages/queue/src/redis/crawl-redis-keys.ts'
import { RequestPacker } from '../packages/queue/src/visits/packed-request.ts'
import { startRedis } from '../packages/testkit/src/redis/redis-server.ts'

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '1e6' },
    hosts: { type: 'string', default: '1000' },
    validators: { type: 'string', default: 'date' },
    as: { type: 'string' },
    queries: { type: 'boolean', default: false },
  },
})
const [pages, hosts] = [Number(values.pages), Number(values.hosts)]
// Some hundred a script, as pages that end together are.
const BATCH = 200
const share = values.as === undefined ? 1 : pages / Number(values.as)
const START = Date.UTC(2026, 0, 1)
const HOUR = 3_600_000

/** As good as random, in a part of all there are. */
function fingerprint({ url }: Request): string {
  const hex = hash('sha1', url)
  const first = Math.floor(Number.parseInt(hex.slice(0, 4), 16) * share)
  return first.toString(16).padStart(4, '0') + hex.slice(4)
}

const DATED = new Set(['date', 'nginx', 'apache', 'serve-static', 'md5', 'sha1', 'sha256'])

/** A page's tag, as servers make it. */
function tagOf(n: number, date: number): string | undefined {
  const length = (5_000 + ((n * 7919) % 60_000)).toString(16)
  const digest = (name: string) => hash(name, `${n}`)
  switch (values.validators) {
    case 'nginx':
      return `"${(date / 1000).toString(16)}-${length}"`
    case 'apache':
      return `"${length}-${(date * 1000 + ((n * 7919) % 1_000_000)).toString(16)}-gzip"`
    case 'serve-static':
      return `W/"${length}-${(date + (n % 1000)).toString(16)}"`
    case 'express':
      return `W/"${length}-${hash('sha1', `${n}`, 'base64').slice(0, 27)}"`
    case 'md5':
    case 'sha1':
    case 'sha256':
      return `"${digest(values.validators)}"`
    default:
      return undefined
  }
}

function pageOf(n: number): VisitedPage {
  const url = `https://www.host-${n % hosts}.example/catalogue/section-${n % 97}/page-${n}.html?sort=asc`
  const chain = { steps: 1, links: hash('sha256', url, 'base64url'), items: n * 7919 }
  const meta = { depth: n % 12, ...(values.queries && { trap_chain: chain }) }
  const request = new Request(url, { callback: 'parseItem', meta })
  const hours = 12 + (n % 37) * 9
  const hex = fingerprint(request)
  const lastModifiedAt = START - n * 1000
  const etag = tagOf(n, lastModifiedAt)
  const visit: Visit = {
    visitedAt: START,
    dueAt: START + hours * HOUR,
    contentHash: hex.slice(32),
    visits: n % 50,
    changes: n % 7,
    evidence: { stillHours: n % 1000, seen: n % 7, gapLogs: (n % 7) * 3, dated: n % 3 },
    failures: 0,
    goneAnswers: 0,
    callbackVersion: 7,
    isOutdated: false,
    ...(DATED.has(values.validators) && { lastModifiedAt }),
    ...(etag !== undefined && { etag }),
  }
  return { fingerprint: hex, request, visit }
}

const server = await startRedis()
const redis = new Redis(server.url)
const cpuUs = async () => {
  const cpu = await redis.info('cpu')
  const part = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(cpu)?.[1])
  return 1e6 * (part('used_cpu_user') + part('used_cpu_sys'))
}
const used = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])

const queue = new BucketQueue({
  redis,
  keys: crawlRedisKeys({ spider: 'bench', crawlId: null }),
  workerId: 'bench:1:x',
  hosts: { pace: () => ({ delayMs: 0, concurrency: 0, randomize: false }) },
  visits: { fingerprint },
})
const visits = queue.visits!
const packer = new RequestPacker()
const NO_NAME = Buffer.alloc(8)
const [before, cpuBefore] = [await used(), await cpuUs()]
let askingBytes = 0
for (let at = 0; at < pages; at += BATCH) {
  const batch = Array.from({ length: Math.min(BATCH, pages - at) }, (_, n) => pageOf(at + n))
  await visits.record(batch)
  for (const { request } of batch) askingBytes += packer.pack(NO_NAME, request, new Map()).length
}
const bytes = (await used()) - before
const noting = (await cpuUs()) - cpuBefore
console.log(
  `${pages} pages on ${hosts} hosts, as dense as ${values.as ?? values.pages}, validators: ${values.validators}: ${(bytes / pages).toFixed(1)} bytes a page, ${(askingBytes / pages).toFixed(1)} of them to ask again; without these ${((bytes - askingBytes) / pages).toFixed(1)}`,
)

const cpuDue = await cpuUs()
let [queued, scripts, longestMs] = [0, 0, 0]
while (queued < Math.min(pages, 100_000)) {
  const begun = performance.now()
  const due = await visits.due(START + 1000 * HOUR, 300)
  queued += await visits.queueDue(due)
  longestMs = Math.max(longestMs, performance.now() - begun)
  scripts += 2
}
console.log(
  `noting a visit took Redis ${(noting / pages).toFixed(1)} µs; queueing a page that is due ${(((await cpuUs()) - cpuDue) / queued).toFixed(1)} µs, ${scripts} scripts, the longest round ${longestMs.toFixed(0)} ms`,
)
await redis.quit()
await server.stop()
