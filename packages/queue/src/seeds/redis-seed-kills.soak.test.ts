import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Request, silentLogger } from '@webloom/core'
import { type StartedProcess, startProcess, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { RedisSeedSource } from './redis-seed-source.ts'

const WORKER = join(import.meta.dirname, '../../testing/workers/seed-worker.ts')
const KILLS = 60
const LEASE_MS = 1000

test(`${KILLS} workers killed at random moments: every seed is queued, and always under the same id`, async () => {
  await using server = await startRedis()
  const key = 'spider:start_urls'
  const start = () =>
    startProcess(
      process.execPath,
      ['--conditions=webloom-source', WORKER, server.url, key, 'queued', `${LEASE_MS}`],
      {
        timeoutMs: 120_000,
      },
    )
  const urls = Array.from({ length: 40_000 }, (_, n) => `https://example.com/${n}`)
  for (let from = 0; from < urls.length; from += 1000) {
    await server.command('RPUSH', key, ...urls.slice(from, from + 1000))
  }
  const workers: StartedProcess[] = [start(), start()]
  for (let kill = 0; kill < KILLS; kill++) {
    const victim = workers.shift()!
    await victim.waitForOutput(/open/)
    workers.push(start())
    // Waits: a worker is killed at any point of its work.
    await sleep(Math.random() * 300)
    victim.kill('SIGKILL')
    await victim.exited
  }
  const taken = urls.length - Number(await server.command('LLEN', key))
  for (const worker of workers) worker.kill('SIGKILL')
  // What is left is taken by one that is not killed.
  await server.command('DEL', key)
  const redis = new Redis(server.url)
  const source = new RedisSeedSource({
    redis,
    key,
    batchSize: 500,
    workerId: 'last:1:x',
    makeRequests: (data) => [new Request(data)],
    redisRunId: async () => 'run',
    settled: async () => {},
    logger: silentLogger,
    stats: { inc() {} },
    leaseMs: LEASE_MS,
    ripeMs: 200,
  })
  await source.open()
  let redelivered = 0
  while ((await source.pending()) > 0) {
    for (const seed of await source.next(500)) {
      redelivered++
      await server.command('SADD', 'queued', `${seed.request.url} ${seed.id}`)
      await source.acknowledge(seed)
    }
    // Waits: what killed workers hold comes when its lease has run out.
    await sleep(50)
  }
  await source.close()
  redis.disconnect()
  const queued = (await server.command('SMEMBERS', 'queued')) as string[]
  console.log({ kills: KILLS, taken, lastToTake: redelivered })
  expect(taken).toBeGreaterThan(KILLS)
  expect(redelivered).toBeGreaterThan(0)
  // One id a message: handed out again, it is the same asker.
  expect(queued).toHaveLength(taken)
  expect(new Set(queued.map((entry) => entry.split(' ')[0])).size).toBe(taken)
}, 180_000)
