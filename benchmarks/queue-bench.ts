/**
 * What a page costs the queue's Redis, and what a queued request weighs there.
 *
 *     node_modules/.bin/node --conditions=webloom-source benchmarks/queue-bench.ts [--mode turns|job] [--pages 30000] [--queued 1e5] [--hosts 1000] [--cases one,many,single,paced,memory]
 *
 * `one`: one host without a delay, each page links to one more. `many`: the same over all hosts, ten waiting at each. `single`: one page a host. `paced`: each host has
 * 12 pages and a delay of a second, CONCURRENT_REQUESTS is 256. `memory`: requests of about 200 bytes that only wait.
 * One worker, in this process; a fetch takes 0 to 5 ms. Redis is a process of its own without persistence, its time that
 * of its main thread.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import type { HostPace, Lease, QueuedRequest, RequestQueue } from '../packages/core/src/index.ts'
import { Request } from '../packages/core/src/requests/request.ts'
import { BucketQueue } from '../packages/queue/src/buckets/bucket-queue.ts'
import { BullJobQueue } from '../packages/queue/src/jobs/bull-job-queue.ts'
import { MemoryHostClock } from '../packages/queue/src/politeness/memory-host-clock.ts'
import { crawlRedisKeys } from '../packages/queue/src/redis/crawl-redis-keys.ts'
import { startRedis } from '../packages/testkit/src/redis/redis-server.ts'

const { values } = parseArgs({
  options: {
    mode: { type: 'string', default: 'turns' },
    pages: { type: 'string', default: '30000' },
    queued: { type: 'string', default: '1e5' },
    hosts: { type: 'string', default: '1000' },
    cases: { type: 'string', default: 'one,many,single,paced,memory' },
  },
})
const [PAGES, QUEUED, HOSTS] = [Number(values.pages), Number(values.queued), Number(values.hosts)]
const PACED_PAGES_PER_HOST = 12

await using server = await startRedis()
const redis = new Redis(server.url, { maxRetriesPerRequest: null })

const page = (n: number, hosts: number): QueuedRequest => ({
  id: n.toString(16).padStart(40, '0'),
  request: new Request(`https://host-${n % hosts}.example/some/longer/path/to/a/page?number=${n}&of=them`, {
    callback: 'parseListing',
    meta: { depth: 3, from: 'a listing of some kind' },
  }),
})

let crawls = 0
async function openQueue(pace: HostPace, concurrency: number): Promise<RequestQueue> {
  const connection = {
    redis,
    keys: crawlRedisKeys({ spider: `bench${++crawls}`, crawlId: null }),
    workerId: 'bench:1:x',
  }
  const queue =
    values.mode === 'job'
      ? new BullJobQueue({ ...connection, clock: new MemoryHostClock({ pace }), concurrency })
      : new BucketQueue({ ...connection, hosts: { pace: () => pace } })
  await queue.open()
  return queue
}

async function fieldsOf(section: string): Promise<Map<string, string>> {
  return new Map(
    (await redis.info(section)).split('\r\n').map((line) => line.split(':', 2) as [string, string]),
  )
}

/** Microseconds of the main thread so far, and scripts run. */
async function spent(): Promise<{ us: number; scripts: number; calls: number }> {
  const cpu = await fieldsOf('cpu')
  const us =
    1e6 * (Number(cpu.get('used_cpu_user_main_thread')) + Number(cpu.get('used_cpu_sys_main_thread')))
  const stats = await fieldsOf('commandstats')
  const callsOf = (text = '') => Number(/calls=(\d+)/.exec(text)?.[1] ?? 0)
  let calls = 0
  for (const text of stats.values()) calls += callsOf(text)
  return { us, scripts: callsOf(stats.get('cmdstat_evalsha')), calls }
}

async function crawl(
  queue: RequestQueue,
  concurrency: number,
  pages: number,
  visit: (lease: Lease) => Promise<void>,
): Promise<void> {
  let [begun, done, busy] = [0, 0, 0]
  const ended = Promise.withResolvers<void>()
  let wake: (() => void) | undefined
  const one = async (lease: Lease) => {
    lease.started()
    await visit(lease)
    busy--
    wake?.()
    if (++done === pages) ended.resolve()
  }
  while (begun < pages) {
    if (busy >= concurrency) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      continue
    }
    for (const lease of await queue.lease(Math.min(concurrency - busy, pages - begun))) {
      begun++
      busy++
      void one(lease)
    }
  }
  await ended.promise
}

async function linked(name: string, hosts: number, first: number): Promise<void> {
  const queue = await openQueue({ delayMs: 0, concurrency: 0, randomize: false }, 16)
  let next = first
  await queue.push(
    Array.from({ length: next }, (_, n) => page(n, hosts)),
    'o',
  )
  const [before, cpuBefore, begunAt] = [await spent(), process.cpuUsage(), performance.now()]
  await crawl(queue, 16, PAGES, async (lease) => {
    await sleep(Math.random() * 5)
    await queue.commit(lease, { children: next < PAGES ? [page(next++, hosts)] : [] })
  })
  const [after, cpu, tookMs] = [await spent(), process.cpuUsage(cpuBefore), performance.now() - begunAt]
  report(name, PAGES, tookMs, before, after, (cpu.user + cpu.system) / PAGES)
  await queue.close()
}

async function paced(): Promise<void> {
  const pages = HOSTS * PACED_PAGES_PER_HOST
  const queue = await openQueue({ delayMs: 1000, concurrency: 8, randomize: false }, 256)
  const starts = new Map<string, number[]>()
  const batch = Array.from({ length: pages }, (_, n) => page(n, HOSTS))
  for (let from = 0; from < pages; from += 500) await queue.push(batch.slice(from, from + 500), `o${from}`)
  const [before, cpuBefore, begunAt] = [await spent(), process.cpuUsage(), performance.now()]
  await crawl(queue, 256, pages, async (lease) => {
    const known = starts.get(lease.slot) ?? []
    starts.set(lease.slot, [...known, performance.now()])
    await sleep(100)
    await queue.commit(lease)
  })
  const [after, cpu, tookMs] = [await spent(), process.cpuUsage(cpuBefore), performance.now() - begunAt]
  report('paced', pages, tookMs, before, after, (cpu.user + cpu.system) / pages)
  const gaps = [...starts.values()]
    .flatMap((at) => at.slice(1).map((time, n) => time - at[n]!))
    .sort((a, b) => a - b)
  const early = gaps.filter((gap) => gap < 975).length
  console.log(
    `       gaps: least ${gaps[0]!.toFixed(0)} ms, median ${gaps[gaps.length >> 1]!.toFixed(0)} ms, below 975 ms: ${early}`,
  )
  await queue.close()
}

async function memory(): Promise<void> {
  const queue = await openQueue({ delayMs: 0, concurrency: 8, randomize: false }, 16)
  const used = async () => Number((await fieldsOf('memory')).get('used_memory'))
  const before = await used()
  const [cpuBefore, begunAt] = [await spent(), performance.now()]
  for (let from = 0; from < QUEUED; from += 500) {
    const batch = Array.from({ length: 500 }, (_, n) => page(from + n, HOSTS))
    // As children arrive: no ids are noted for good.
    await queue.push(batch, `o${from}`)
    await redis.unlink(`webloom:{bench${crawls}}:noted:o${from}`)
  }
  await sleep(500)
  const each = ((await used()) - before) / QUEUED
  const us = ((await spent()).us - cpuBefore.us) / QUEUED
  const rate = QUEUED / ((performance.now() - begunAt) / 1000)
  console.log(
    `memory ${QUEUED} queued over ${HOSTS} hosts: ${each.toFixed(0)} bytes each, ${us.toFixed(1)} µs of Redis to add, ${rate.toFixed(0)}/s`,
  )
  await queue.close()
}

type Spent = Awaited<ReturnType<typeof spent>>
function report(
  name: string,
  pages: number,
  tookMs: number,
  before: Spent,
  after: Spent,
  nodeUs: number,
): void {
  const a = (figure: keyof Spent, digits: number) =>
    ((after[figure] - before[figure]) / pages).toFixed(digits)
  console.log(
    `${name.padEnd(6)} ${pages} pages: ${((pages * 1000) / tookMs).toFixed(0)}/s, a page: ${a('us', 0)} µs of Redis, ${a('scripts', 2)} scripts, ${a('calls', 0)} commands with those in scripts, ${nodeUs.toFixed(0)} µs of this process`,
  )
}

console.log(`mode ${values.mode}`)
for (const name of values.cases.split(',')) {
  if (name === 'one') await linked('one', 1, 64)
  if (name === 'many') await linked('many', HOSTS, 10 * HOSTS)
  if (name === 'single') await linked('single', PAGES, 64)
  if (name === 'paced') await paced()
  if (name === 'memory') await memory()
}
redis.disconnect()
