import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'

const server = await startRedis()
const redis = new Redis(server.url, { maxRetriesPerRequest: null })
const lua = (...f: string[]) =>
  f.map((x) => readFileSync(`/work/main/packages/queue/lua/${x}`, 'utf8')).join('\n')
const BASE = ['turn-host.lua', 'turn-wake.lua', 'turn-lanes.lua', 'turn-lines.lua']
const TAKE = [...BASE, 'quarantine.lua', 'turn-room.lua', 'turn-standing.lua']
const exchange = lua(
  ...TAKE,
  'turn-learn.lua',
  'turn-take.lua',
  'turn-ended.lua',
  'turn-leave.lua',
  'turn-exchange.lua',
)
const keys = ['t', 'c', 'a', 'q', 'h', 'b:', 'r', 'n']
const cpu = async () => {
  const i = await redis.info('cpu')
  return (
    1e6 *
    (Number(/used_cpu_user_main_thread:(\S+)/.exec(i)![1]) +
      Number(/used_cpu_sys_main_thread:(\S+)/.exec(i)![1]))
  )
}
async function measure(name: string, script: string, args: (string | number)[], n = 4000) {
  const sha = (await redis.script('LOAD', script)) as string
  const batch = 200
  const c0 = await cpu()
  for (let i = 0; i < n; i += batch)
    await Promise.all(Array.from({ length: batch }, () => redis.evalsha(sha, keys.length, ...keys, ...args)))
  const each = ((await cpu()) - c0) / n
  const m = await redis.info('memory')
  console.log(name.padEnd(44), each.toFixed(1), 'µs cpu', /used_memory_vm_eval:(\d+)/.exec(m)![1])
}
function tabled(src: string): string {
  const names = [...src.matchAll(/^local function (\w+)\(/gm)].map(([, n]) => n!)
  let out = src
  for (const n of names) {
    out = out.replace(new RegExp(`^local function ${n}\\(`, 'm'), `function F.${n}(`)
    out = out.replace(new RegExp(`(?<![\\w.:'])${n}\\(`, 'g'), `F.${n}(`)
    out = out.replaceAll(`F.F.${n}(`, `F.${n}(`).replaceAll(`function F.F.`, 'function F.')
  }
  return 'local F = {}\n' + out
}
const best = async (name: string, script: string, args: (string | number)[]) => {
  for (let i = 0; i < 3; i++) await measure(name, script, args, 3000)
}

await redis.hset('t:host:a', 'g0', '1', 'o0', 'me/1', 'up', '1')
await redis.rpush('t:line:0:a', 'x')
const idle = (h: string) => [h, '0', '1', 'me/1', '', 0, '', '', 0, 0, 1, 10, 0, '']
for (let i = 0; i < 50; i++) {
  await redis.hset(`t:host:h${i}`, 'g0', '1', 'o0', 'me/1', 'up', '1')
  await redis.rpush(`t:line:0:h${i}`, 'x')
}
await best('empty', 'return 1', ['priority'])
await best('empty 300 args', 'return 1', ['priority', ...Array.from({ length: 300 }, (_, i) => `a${i}`)])
await best('exchange 0', exchange, ['priority', '', 0])
await best('exchange 1 idle', exchange, ['priority', '', 1, ...idle('a')])
await best('exchange 10 idle', exchange, [
  'priority',
  '',
  10,
  ...Array.from({ length: 10 }, (_, i) => idle(`h${i}`)).flat(),
])
await best('exchange 50 idle', exchange, [
  'priority',
  '',
  50,
  ...Array.from({ length: 50 }, (_, i) => idle(`h${i}`)).flat(),
])
await server.stop()
process.exit()
await measure('empty', 'return 1', ['priority'])
await measure('TIME only', "local t = redis.call('TIME') return 1", ['priority'])
await measure('HDEL x1', "redis.call('HDEL', KEYS[2], '')  return 1", ['priority'])
await measure('HDEL x10', "for i=1,10 do redis.call('HDEL', KEYS[2], '') end return 1", ['priority'])
await measure(
  '40 closures',
  Array.from({ length: 40 }, (_, i) => `local function f${i}(a) return a + ${i} end`).join('\n') +
    ' return 1',
  ['priority'],
)
await measure(
  '40 closures nested upvalues',
  'local u1, u2, u3, u4 = 1,2,3,4\n' +
    Array.from({ length: 40 }, (_, i) => `local function f${i}(a) return a + u1 + u2 + u3 + u4 end`).join(
      '\n',
    ) +
    ' return 1',
  ['priority'],
)
await measure('turn-host only', lua('turn-host.lua') + ' return 1', ['priority'])
await measure('BASE only', lua(...BASE) + ' return 1', ['priority'])
await measure('TAKE only', lua(...TAKE) + ' return 1', ['priority'])
await measure('exchange 0 turns', exchange, ['priority', '', 0])
await redis.hset('t:host:a', 'g0', '1', 'o0', 'me/1', 'up', '1')
await redis.rpush('t:line:0:a', 'x')
const head = ['a', '0', '1', 'me/1', '', 0, '', '']
await measure('exchange 1 idle turn', exchange, ['priority', '', 1, ...head, 0, 0, 1, 10, 0, ''])
const text =
  'a'.repeat(40) +
  '\n\n' +
  JSON.stringify({
    v: 1,
    url: 'https://host-1.example/some/longer/path/to/a/page?number=12345&of=them',
    cb: 'parseListing',
    m: { depth: 3, from: 'a listing of some kind' },
  })
await measure('exchange 1 turn, 1 ended gone', exchange, [
  'priority',
  '',
  1,
  ...head,
  1,
  '1.1',
  '',
  '',
  0,
  0,
  1,
  10,
  0,
  '',
])
for (let i = 0; i < 9000; i++) redis.rpush('t:line:0:a', text)
await measure('exchange 1 turn take 1 (1 hset)', exchange, ['priority', '', 1, ...head, 0, 1, 77, 10, 0, ''])
await redis.hset('t:flight:0:a', '5.5', 'x')
await server.stop()
process.exit()
