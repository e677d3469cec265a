import { Redis } from 'ioredis'
import { Request } from '/work/main/packages/core/src/request.ts'
import { SplittableBloomDupeFilter } from '/work/main/packages/dupefilter/src/splittable-bloom-dupefilter.ts'
import { startRedis } from '/work/main/packages/testkit/src/redis-server.ts'
await using server = await startRedis()
const redis = new Redis(server.url)
const filter = new SplittableBloomDupeFilter({ redis, key: 'a', capacity: 1000, errorRate: 1e-2, leafBit: 13 })
await filter.open()
const B = Number(process.argv[2] ?? 30)
let failed = 0
const t = performance.now()
let fresh = 0
for (let n = 0; n < 100_000; n += 10 * B) {
  const s = await Promise.all(Array.from({ length: 10 }, async (_, p) => {
    const a = await filter.requestsSeen(Array.from({ length: B }, (_, i) => new Request(`https://example.com/${n + p * B + i}`)), `p${n}/${p}`)
    await filter.settled(`p${n}/${p}`)
    return a
  }))
  fresh += s.flat().filter((x) => !x).length
}
console.log(performance.now() - t, 'ms', await filter.describe(), fresh)
console.log((await redis.info('commandstats')).split('\n').filter((l) => /evalsha|hgetall|getrange|hget:|hset:|bitfield|getbit|append|hscan/.test(l)).join('\n'), (await redis.info('cpu')).split('\n').slice(1,3).join(' '), process.cpuUsage())
await filter.close(); redis.disconnect()
