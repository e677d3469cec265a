/**
 * What a worker that has nothing to do asks Redis, by the number of shards of the queue (QUEUE_SHARDS) and of parts of the dupefilter
 * (DUPEFILTER_SHARDS).
 *
 *     node_modules/.bin/node --conditions=webloom-source benchmarks/idle-bench.ts [--shards 1,6,48] [--parts 1] [--waits-for host,seeds] [--seconds 20] [--settle 40] [--monitor]
 *
 * One worker in this process waits for a host whose delay is an hour, or for seeds, which it asks for three times a second; one plain Redis has all. A command that a
 * script calls counts as one, too; `sent` are those of the worker itself. Counted once the worker has had nothing to do for `--settle` seconds. `--monitor` also
 * lists what was sent, by script and key.
 */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { silentLogger } from '../packages/core/src/index.ts'
import { startRedis } from '../packages/testkit/src/redis/redis-server.ts'
import { assemble } from '../packages/webloom/src/assembly/assemble.ts'
import { RedisSpider, Spider } from '../packages/webloom/src/index.ts'

const { values } = parseArgs({
  options: {
    shards: { type: 'string', default: '1,6,48' },
    parts: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '20' },
    settle: { type: 'string', default: '40' },
    'waits-for': { type: 'string', default: 'host,seeds' },
    monitor: { type: 'boolean', default: false },
  },
})
const [SECONDS, SETTLE] = [Number(values.seconds), Number(values.settle)]
const ROWS_SHOWN = 14
const SETTINGS = { DOWNLOAD_DELAY: 3600, ROBOTSTXT_OBEY: false }

const server = createServer((_request, response) => response.end('a page'))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

class WaitsForSeeds extends RedisSpider {
  override readonly name = 'idle'
  override async *parse(): AsyncGenerator<unknown> {}
}

class WaitsForHost extends Spider {
  override readonly name = 'idle'
  override startUrls = ['', 'more'].map((path) => new URL(path, site).href)
  override *parse(): Generator<unknown> {}
}

/** Commands by name, with how often each was called. */
async function commandsOf(redis: Redis): Promise<[string, number][]> {
  const stats = await redis.info('commandstats')
  const all = stats.matchAll(/cmdstat_([^:]+):calls=(\d+)/g)
  return [...all].map(([, name, calls]) => [name!, Number(calls)])
}

/** Counts what is sent, by script and first key. */
async function monitored(redis: Redis): Promise<{ readonly sent: Map<string, number>; stop(): void }> {
  const sent = new Map<string, number>()
  const monitor = await redis.monitor()
  monitor.on('monitor', (_time: string, [command = '', ...args]: string[], source: string) => {
    const name =
      source === 'lua'
        ? ''
        : /^evalsha/i.test(command)
          ? `evalsha ${args[0]!.slice(0, 8)} ${args[2]}`
          : `${command} ${args[0] ?? ''}`
    if (name) sent.set(name, (sent.get(name) ?? 0) + 1)
  })
  return { sent, stop: () => monitor.disconnect() }
}

async function measure(waitsFor: string, shards: number, parts: number): Promise<void> {
  await using redisServer = await startRedis()
  const redis = new Redis(redisServer.url)
  const worker = await assemble(waitsFor === 'seeds' ? WaitsForSeeds : WaitsForHost, {
    folder: import.meta.dirname,
    layers: {
      command: { ...SETTINGS, REDIS_URL: redisServer.url, QUEUE_SHARDS: shards, DUPEFILTER_SHARDS: parts },
    },
    createLogger: () => silentLogger,
    part: { begins: false, isWorker: true },
    stays: true,
  })
  const running = worker.run()
  await sleep(SETTLE * 1000)
  await redis.config('RESETSTAT')
  const watched = await monitored(redis)
  await sleep(SECONDS * 1000)
  const commands = (await commandsOf(redis)).sort((a, b) => b[1] - a[1])
  watched.stop()
  const perSecond = (calls: number) => (calls / SECONDS).toFixed(1)
  const total = commands.reduce((sum, [, calls]) => sum + calls, 0)
  const sent = [...watched.sent].sort((a, b) => b[1] - a[1])
  const ownSent = sent.reduce((sum, [, calls]) => sum + calls, 0)
  console.log(
    `waits for ${waitsFor}, ${shards} shards, ${parts} parts: ${perSecond(total)} commands/s, sent ${perSecond(ownSent)}`,
  )
  console.log(
    `  ${commands
      .slice(0, ROWS_SHOWN)
      .map(([name, calls]) => `${name} ${perSecond(calls)}`)
      .join(', ')}`,
  )
  if (values.monitor) for (const [name, calls] of sent) console.log(`  ${perSecond(calls)} ${name}`)
  worker.stop('shutdown')
  await running
  redis.disconnect()
}

for (const waitsFor of values['waits-for'].split(','))
  for (const shards of values.shards.split(',').map(Number))
    for (const parts of values.parts.split(',').map(Number)) await measure(waitsFor, shards, parts)
server.close()
