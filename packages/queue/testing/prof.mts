import { Request } from '@webloom/core'
import { startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { crawlRedisKeys } from '../src/crawl-redis-keys.ts'
import { HostTurnQueue } from '../src/host-turn-queue.ts'

const [hosts, pages, first] = [Number(process.argv[2]), Number(process.argv[3]), Number(process.argv[4])]
const server = await startRedis()
const redis = new Redis(server.url, { maxRetriesPerRequest: null })
const keys = crawlRedisKeys({ spider: 'x', crawlId: null })
const page = (n: number) => ({
  id: n.toString(16).padStart(40, '0'),
  request: new Request(`https://host-${n % hosts}.example/some/longer/path/to/a/page?number=${n}&of=them`, {
    callback: 'parseListing',
    meta: { depth: 3, from: 'a listing of some kind' },
  }),
})
const q = new HostTurnQueue({
  redis,
  keys,
  workerId: 'bench:1:x',
  concurrency: 16,
  pace: () => ({ delayMs: 0, concurrency: 0, randomize: false }),
})
await q.open()
let next = first
await q.push(
  Array.from({ length: first }, (_, n) => page(n)),
  'o',
)
await new Promise((r) => setTimeout(r, 500))
await redis.config('RESETSTAT')
const cpu = async () => {
  const i = await redis.info('cpu')
  return (
    Number(/used_cpu_user_main_thread:(\S+)/.exec(i)![1]) +
    Number(/used_cpu_sys_main_thread:(\S+)/.exec(i)![1])
  )
}
const c0 = await cpu()
const bytes0 = Number(/total_net_input_bytes:(\d+)/.exec(await redis.info('stats'))![1])
let done = 0,
  busy = 0
let wake = () => {}
const one = async (l: any) => {
  l.started()
  await new Promise((r) => setTimeout(r, Math.random() * 5))
  await q.commit(l, { children: next < pages ? [page(next++)] : [] })
  busy--
  done++
  wake()
}
while (done < pages) {
  if (busy >= 16) {
    await new Promise<void>((r) => {
      wake = r
    })
    continue
  }
  if (busy + done >= pages) {
    await new Promise<void>((r) => {
      wake = r
    })
    continue
  }
  for (const l of await q.lease(16 - busy)) {
    busy++
    void one(l)
  }
}
const c1 = await cpu()
console.log(`cpu µs/page ${(((c1 - c0) * 1e6) / pages).toFixed(1)}`)
const stats = await redis.info('commandstats')
const rows = [...stats.matchAll(/cmdstat_(\S+?):calls=(\d+),usec=(\d+),usec_per_call=([\d.]+)/g)]
  .map(([, n, c, u, p]) => ({ n, calls: +c! / pages, us: +u! / pages, each: +p! }))
  .sort((a, b) => b.us - a.us)
for (const r of rows.slice(0, 22))
  console.log(
    r.n!.padEnd(18),
    r.calls.toFixed(3).padStart(8),
    'calls/page',
    r.us.toFixed(2).padStart(8),
    'µs/page',
    r.each.toFixed(2),
    'µs each',
  )
await q.close()
redis.disconnect()
await server.stop()
process.exit()
