import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'

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
const text =
  'a'.repeat(40) +
  '\n\n' +
  JSON.stringify({
    v: 1,
    url: 'https://host-1.example/some/longer/path/to/a/page?number=12345&of=them',
    cb: 'parseListing',
    m: { depth: 3, from: 'a listing of some kind' },
  })
const head = (h: string) => [h, '0', '1', 'me/1', '', 0, '', '']
const idle = (h: string) => [...head(h), 0, 0, 1, 10, 0, '']
const cases: Record<string, (i: number) => [string, (string | number)[]]> = {
  empty: () => ['return 1', ['priority']],
  take: () => [lua(...TAKE) + ' return 1', ['priority']],
  exchange0: () => [exchange, ['priority', '', 0]],
  idle1: () => [exchange, ['priority', '', 1, ...idle('h0')]],
  idle10: () => [
    exchange,
    ['priority', '', 10, ...Array.from({ length: 10 }, (_, i) => idle(`h${i}`)).flat()],
  ],
  // one page: ended, child appended, one taken: steady state
  page1: (i) => [
    exchange,
    [
      'priority',
      'grows',
      1,
      ...head('h0'),
      1,
      `${i}.1`,
      '',
      '',
      1,
      'end',
      'h0',
      '0',
      1,
      1,
      text,
      1,
      i + 1,
      10,
      0,
      '',
    ],
  ],
  page3: (i) => [
    exchange,
    [
      'priority',
      'grows',
      1,
      ...head('h0'),
      ...(i === 0
        ? [0]
        : [3, ...[1, 2, 3].flatMap((n) => [`${i}.${n}`, '', '', 1, 'end', 'h0', '0', 1, 1, text])]),
      3,
      i + 1,
      10,
      0,
      '',
    ],
  ],
  // three pages of three hosts, children to three others, three taken from three others: 9 hosts
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
const stripped = (src: string) =>
  src
    .split('\n')
    .filter((l) => !l.startsWith('--'))
    .join('\n')
Object.assign(cases, {
  t_exchange0: () => [tabled(exchange), ['priority', '', 0]],
  t_idle1: () => [tabled(exchange), ['priority', '', 1, ...idle('h0')]],
  args300: () => ['return 1', ['priority', ...Array.from({ length: 300 }, (_, i) => `a${i}`)]],
  closures20: () => [
    Array.from({ length: 20 }, (_, i) => `local function f${i}(a) return a + ${i} end`).join('\n') +
      ' return 1',
    ['priority'],
  ],
  closures20up: () => [
    'local ' +
      Array.from({ length: 20 }, (_, i) => `u${i}`).join(',') +
      ' = ' +
      Array.from({ length: 20 }, () => '1').join(',') +
      '\n' +
      Array.from(
        { length: 20 },
        (_, i) => `local function f${i}(a) return a + u${i} + u0 + u1 + u2 end`,
      ).join('\n') +
      ' return 1',
    ['priority'],
  ],
})
const port = 7998
async function total(name: string, n: number): Promise<number> {
  const p = spawn(
    'valgrind',
    [
      '--tool=callgrind',
      `--callgrind-out-file=/tmp/h/cg.${name}`,
      'redis-server',
      '--port',
      String(port),
      '--save',
      '',
      '--enable-debug-command',
      'yes',
      '--hz',
      '1',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let err = ''
  p.stderr.on('data', (d) => {
    err += d
  })
  const redis = new Redis({
    port,
    maxRetriesPerRequest: null,
    retryStrategy: () => 300,
    connectTimeout: 60000,
  })
  redis.on('error', () => {})
  for (let i = 0; i < 10; i++) {
    await redis.hset(`t:host:h${i}`, 'g0', '1', 'o0', 'me/1', 'up', '1')
    await redis.rpush(`t:line:0:h${i}`, text, text, text)
  }
  const sha = (await redis.script('LOAD', cases[name]!(0)[0])) as string
  for (let i = 0; i < n; i++) await redis.evalsha(sha, keys.length, ...keys, ...cases[name]!(i)[1])
  if (name.startsWith('page')) console.log(name, await redis.hgetall('c'), await redis.hlen('t:flight:0:h0'))
  redis.shutdown('NOSAVE').catch(() => {})
  await new Promise((r) => p.on('exit', r))
  redis.disconnect()
  return Number(/Collected : (\d+)/.exec(err)![1])
}
for (const name of process.argv.slice(2)) {
  const a = await total(name, 200),
    b = await total(name, 700)
  console.log(name.padEnd(12), ((b - a) / 500 / 1000).toFixed(1), 'k instructions a call')
}
process.exit()
