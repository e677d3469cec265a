import { type RedisServer, type StartedProcess, startProcess, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import type { TurnWorkerOptions } from '../../testing/workers/bucket-crawl.ts'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { BucketScripts } from './scripts/bucket-scripts.ts'

const PAGES = 4000
const KILLS_MIN = 100
const WORKERS = 3

function startWorker(server: RedisServer, options: Partial<TurnWorkerOptions>): StartedProcess {
  const all = {
    url: server.url,
    spider: 'kills',
    pages: PAGES,
    hosts: 40,
    fetchMs: 10,
    ...options,
  }
  return startProcess(
    process.execPath,
    [
      '--conditions=webloom-source',
      new URL('../../testing/workers/bucket-worker.ts', import.meta.url).pathname,
      JSON.stringify(all),
    ],
    { timeoutMs: 900_000 },
  )
}

test.each([
  ['without a delay', {}],
  ['with a delay', { delayMs: 20 }],
])(
  '%s, three workers that kill themselves at random points: nothing is lost, and nothing committed twice',
  async (_how, pace) => {
    await using server = await startRedis()
    const redis = new Redis(server.url)
    const firsts = new Map<string, number>()
    const all = new Set<string>()
    let kills = 0
    let started = 0
    const lives = async (name: string) => {
      for (let life = 0; ; life++) {
        // Rare enough that a life gets something done, until there were enough.
        const killRate = kills < KILLS_MIN * 1.2 ? 0.01 : 0
        const worker = startWorker(server, { ...pace, workerId: `${name}:${life}:x`, killRate })
        const { signal } = await worker.exited
        for (const [, id, attempt] of worker.stdout.matchAll(/^start (\S+) (\d+) \d+$/gm)) {
          all.add(id!)
          started++
          if (attempt === '1') firsts.set(id!, (firsts.get(id!) ?? 0) + 1)
        }
        if (signal !== 'SIGKILL') return expect(worker.stdout).toMatch(/over\n$/)
        kills++
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, (_, n) => lives(`soak${n}`)))
    console.log(`${kills} kills, ${PAGES} pages, ${started} fetched`)
    expect(kills).toBeGreaterThanOrEqual(KILLS_MIN)
    expect(all.size).toBe(PAGES)
    // A page committed twice would bring its children twice, each as new.
    expect([...firsts].filter(([, times]) => times > 1)).toEqual([])
    const keys = crawlRedisKeys({ spider: 'kills', crawlId: null })
    const counts = await new BucketScripts({ redis, keys, order: 'priority' }).counts()
    expect(counts).toEqual({ waiting: 0, delayed: 0, leased: 0, quarantined: 0 })
    redis.disconnect()
  },
  1_200_000,
)
