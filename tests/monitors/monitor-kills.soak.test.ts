/** The worker that judges a run is killed while it tells: another goes on, and people are told once. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startFakeWebProcess, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { ClusterFolder, SHORT_TIMES } from '../cluster/cluster-crawl.ts'

const ROUNDS = Number(process.env.MONITOR_KILLS ?? 100)
const ALERTS = 4

test(`${ROUNDS} rounds in which the worker that judges is killed: nothing is missed, nothing told twice`, async () => {
  await using server = await startRedis()
  await using web = await startFakeWebProcess({ pagesPerHost: 10 })
  let missed = 0
  let double = 0
  let takenOver = 0
  for (let round = 0; round < ROUNDS; round++) {
    const crawlId = `kills-${round}`
    await using hook = await receiver(server.url, `webloom:{pages@${crawlId}}:monitors`, round)
    const settings = {
      REDIS_URL: server.url,
      CRAWL_ID: crawlId,
      MONITOR_WEBHOOKS: [hook.url],
      MONITORS: { items: { min: 1_000_000 }, coverage: { price: 0.9, seller: 0.9 }, successes: 1_000_000 },
      PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8'],
    }
    await using folder = await ClusterFolder.of(web, settings, undefined, SHORT_TIMES)
    const workers = ['a', 'b', 'c'].map((name) => folder.worker(name))
    const codes = (await Promise.all(workers.map(({ exited }) => exited))).map(({ code }) => code)
    // Those that live learn what was found.
    expect(codes.filter((code) => code === 4).length, `codes ${codes.join()}`).toBeGreaterThanOrEqual(2)
    const told = [...hook.told.values()].flat()
    if (new Set(told).size < ALERTS) missed++
    if (told.length > ALERTS) double++
    if (hook.killed() > 0) takenOver++
  }
  console.log({ rounds: ROUNDS, killed: takenOver, missed, double })
  expect({ missed, double }).toEqual({ missed: 0, double: 0 })
  expect(takenOver).toBeGreaterThan(ROUNDS / 2)
})

/** Kills the worker that sends the first message: before it is taken in even rounds, in odd ones when it was, before its answer. */
async function receiver(redisUrl: string, notesKey: string, round: number) {
  /** By id of a message: the alerts in it. One that is sent again under its id is the same message. */
  const told = new Map<string, string[]>()
  let killed = 0
  const redis = new Redis(redisUrl)
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', async () => {
      const isFirst = killed === 0
      if (isFirst) killed += await killSender(redis, notesKey)
      if (!isFirst || round % 2 === 1) {
        const { id, alerts } = JSON.parse(text) as { id: string; alerts: { id: string }[] }
        told.set(
          id,
          alerts.map((alert) => alert.id),
        )
      }
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    told,
    killed: () => killed,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      redis.disconnect()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The worker that holds the run; its id is `<host>:<pid>:<n>`. */
async function killSender(redis: Redis, notesKey: string): Promise<number> {
  const [notes] = await redis.hvals(notesKey)
  const pid = Number(/"busy":\{"by":"[^"]*?:(\d+):[^"]*"/.exec(notes ?? '')?.[1])
  if (!pid) return 0
  process.kill(pid, 'SIGKILL')
  return 1
}
