/**
 * Ways to look bits up and set them from Lua, and what it costs to make a long string.
 *
 *     node_modules/.bin/node --conditions=webloom-source benchmarks/bloom-lua-bench.ts [--rounds 5] [--urls 60000]
 *
 * µs of Redis a URL: batches of 30, random bits in 128 MiB, eight scripts under way at a time. `known`: of 30 URLs one is
 * new. Rounds are run in turn, and medians shown. `docs/decisions/dupefilter-bloom-on-redis.md` says what was chosen.
 */
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { nativeOffsets } from '../packages/dupefilter/src/bloom-sizing/bloom-offsets.ts'
import { startRedis } from '../packages/testkit/src/redis/redis-server.ts'
import { redisCpuUs } from './filters/figures.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, urls: { type: 'string', default: '60000' } },
})
const BATCH = 30
const BITS = 2 ** 30

const OFFSETS = 'local k, key, out = tonumber(ARGV[1]), KEYS[1], {} local offs = cjson.decode(ARGV[2])\n'
const SET_NEW = `
local a, n = {'BITFIELD', key}, 2
for i = 1, #offs / k do if out[i] == 0 then for j = (i - 1) * k + 1, i * k do
  a[n+1] = 'SET' a[n+2] = 'u1' a[n+3] = offs[j] a[n+4] = '1' n = n + 4 end end end
if n > 2 then redis.call(unpack(a)) end return table.concat(out)`
const SET_EACH_NEW = `
local a = {'BITFIELD', key}
for n = 1, k do a[4*n-1] = 'SET' a[4*n] = 'u1' a[4*n+1] = '' a[4*n+2] = '1' end
for i = 1, #offs / k do if out[i] == 0 then
  for n = 1, k do a[4*n+1] = offs[(i - 1) * k + n] end redis.call(unpack(a)) end end
return table.concat(out)`
const SUM_OF = (width: string) =>
  `for i = 1, #offs / k do local s = 0 for j = (i-1)*(${width})+1, i*(${width}) do s = s + r[j] end out[i] = s == k and 1 or 0 end`

const SCRIPTS: Record<string, string> = {
  'SETBIT for each bit': `${OFFSETS}
for i = 1, #offs / k do local s = 0 for j = (i-1)*k+1, i*k do s = s + redis.call('SETBIT', key, offs[j], '1') end
out[i] = s == k and 1 or 0 end return table.concat(out)`,
  'BITFIELD SET for all': `${OFFSETS}
local a, n = {'BITFIELD', key}, 2
for i = 1, #offs do a[n+1] = 'SET' a[n+2] = 'u1' a[n+3] = offs[i] a[n+4] = '1' n = n + 4 end
local r = redis.call(unpack(a)) ${SUM_OF('k')} return table.concat(out)`,
  'BITFIELD_RO for all, BITFIELD for new': `${OFFSETS}
local a, n = {'BITFIELD_RO', key}, 2
for i = 1, #offs do a[n+1] = 'GET' a[n+2] = 'u1' a[n+3] = offs[i] n = n + 3 end
local r = redis.call(unpack(a)) ${SUM_OF('k')} ${SET_NEW}`,
  'GETBIT to the first 0, BITFIELD for new': `${OFFSETS}
for i = 1, #offs / k do local s = 1
for j = (i-1)*k+1, i*k do if redis.call('GETBIT', key, offs[j]) == 0 then s = 0 break end end
out[i] = s end ${SET_NEW}`,
  'GETBIT to the first 0, a BITFIELD for each new': `${OFFSETS}
for i = 1, #offs / k do local s = 1
for j = (i-1)*k+1, i*k do if redis.call('GETBIT', key, offs[j]) == 0 then s = 0 break end end
out[i] = s end ${SET_EACH_NEW}`,
  'GETRANGE of a block, BITFIELD for new': `local k, key, out, add, n = tonumber(ARGV[1]), KEYS[1], {}, {}, 2
local block = k > 10 and 8192 or 256
local masks, C = {[0] = 128, 64, 32, 16, 8, 4, 2, 1}, 2^28
for i = 3, #ARGV do local t = ARGV[i]
  local start = tonumber(string.sub(t, 1, 13), 16) / 2^52 * (2^27 / block)
  start = (start - start % 1) * block
  local x, y = tonumber(string.sub(t, 14, 20), 16), tonumber(string.sub(t, 21, 26), 16) * 16
  local z = tonumber(string.sub(t, 27, 32), 16) * 16 + 1
  local bytes = redis.call('GETRANGE', key, string.format('%d', start), string.format('%d', start + block - 1))
  out[i-2] = 1
  for j = 1, k do
    local o = x * (block * 8 / C) o = o - o % 1
    local b = o % 8 local v, m = string.byte(bytes, (o - b) / 8 + 1) or 0, masks[b]
    if v % (m + m) < m then out[i-2] = 0
      add[n+1] = 'SET' add[n+2] = 'u1' add[n+3] = string.format('%d', start * 8 + o) add[n+4] = '1' n = n + 4 end
    x = x + y if x >= C then x = x - C end y = y + z if y >= C then y = y - C end
  end
end
if n > 2 then add[1] = 'BITFIELD' add[2] = key redis.call(unpack(add)) end return table.concat(out)`,
}

await using server = await startRedis()
const redis = new Redis(server.url)
await growth()
const rows: Record<string, Record<string, number>> = {}
for (const hashes of [6, 20]) {
  for (const load of ['known', 'new'] as const) {
    const measured: Record<string, number[]> = {}
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const [name, lua] of Object.entries(SCRIPTS)) {
        measured[name] ??= []
        measured[name].push(await measure(lua, hashes, load))
      }
    }
    for (const [name, times] of Object.entries(measured)) {
      rows[name] ??= {}
      rows[name][`${hashes} hashes, ${load}`] = median(times)
    }
  }
}
console.table(rows)
redis.disconnect()

async function measure(lua: string, hashes: number, load: 'known' | 'new'): Promise<number> {
  await redis.flushall()
  await redis.setbit('bits', BITS - 1, 0)
  const sha = String(await redis.script('LOAD', lua))
  const takesOffsets = lua.startsWith(OFFSETS)
  const met: string[] = []
  const batches = Array.from({ length: Number(values.urls) / BATCH }, () =>
    Array.from({ length: BATCH }, (_, n) => {
      const old = load === 'known' && n > 0 ? met[Math.floor(Math.random() * met.length)] : undefined
      if (old !== undefined) return old
      const digest = randomBytes(20).toString('hex')
      met.push(digest)
      return digest
    }),
  )
  const questions = batches.map((digests) => {
    if (!takesOffsets) return [hashes, '', ...digests]
    return [
      hashes,
      JSON.stringify(digests.flatMap((digest) => nativeOffsets(digest, BITS, hashes).map(String))),
    ]
  })
  const before = await redisCpuUs(redis)
  let next = 0
  const asker = async () => {
    while (next < questions.length) await redis.evalsha(sha, 1, 'bits', ...questions[next++]!)
  }
  await Promise.all(Array.from({ length: 8 }, asker))
  return ((await redisCpuUs(redis)) - before) / Number(values.urls)
}

async function growth() {
  const steps: Record<string, { 'longest, ms': number; 'all, ms': number }> = {}
  for (const [name, mebibytes, step] of [
    ['128 MiB at once', 128, 128],
    ['128 MiB by 1', 128, 1],
    ['128 MiB by 4', 128, 4],
    ['512 MiB at once', 512, 512],
    ['512 MiB by 1', 512, 1],
  ] as const) {
    const times: number[] = []
    for (let size = step; size <= mebibytes; size += step) {
      const start = performance.now()
      await redis.bitfield('bits', 'INCRBY', 'u1', String(size * 2 ** 23 - 1), '0')
      times.push(performance.now() - start)
    }
    await redis.del('bits')
    const all = times.reduce((sum, time) => sum + time, 0)
    steps[name] = { 'longest, ms': Math.round(Math.max(...times) * 10) / 10, 'all, ms': Math.round(all) }
  }
  console.table(steps)
}

function median(numbers: number[]): number {
  return Math.round(numbers.sort((a, b) => a - b)[numbers.length >> 1]! * 100) / 100
}
