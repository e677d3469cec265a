/**
 * The worker that judges a run is killed: another goes on, and people are told once on each channel. By turns it is killed
 *
 *     before a receiver has taken its message
 *     when the receiver has taken it, before its answer
 *     when one of two receivers has it, and the other not yet
 *     when alerts are noted, and nothing is sent
 */

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
    const moment = MOMENTS[round % MOMENTS.length]!
    const notesKey = `webloom:{pages@${crawlId}}:monitors`
    const killer = new Killer(server.url, notesKey)
    await using hook = await receiver(killer, moment)
    await using other = await receiver(killer, 'never')
    if (moment === 'noted') killer.killWhenNoted()
    const settings = {
      REDIS_URL: server.url,
      CRAWL_ID: crawlId,
      MONITOR_WEBHOOKS: [hook.url, other.url],
      MONITORS: { items: { min: 1_000_000 }, coverage: { price: 0.9, seller: 0.9 }, successes: 1_000_000 },
      PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8'],
    }
    await using folder = await ClusterFolder.of(web, settings, undefined, SHORT_TIMES)
    const workers = ['a', 'b', 'c'].map((name) => folder.worker(name))
    const codes = (await Promise.all(workers.map(({ exited }) => exited))).map(({ code }) => code)
    // Those that live learn what was found.
    expect(codes.filter((code) => code === 4).length, `codes ${codes.join()}`).toBeGreaterThanOrEqual(2)
    for (const { told } of [hook, other]) {
      const alerts = [...told.values()].flat()
      if (new Set(alerts).size < ALERTS) missed++
      if (alerts.length > ALERTS) double++
    }
    if (killer.killed > 0) takenOver++
    killer.close()
  }
  console.log({ rounds: ROUNDS, killed: takenOver, missed, double })
  expect({ missed, double }).toEqual({ missed: 0, double: 0 })
  expect(takenOver).toBeGreaterThan(ROUNDS / 2)
})

type Moment = 'before' | 'after' | 'one of two' | 'noted' | 'never'

const MOMENTS: readonly Moment[] = ['before', 'after', 'one of two', 'noted']

/** Kills the worker that holds the run, once; its id is `<host>:<pid>:<n>`. */
class Killer {
  killed = 0
  readonly #redis: Redis
  readonly #notesKey: string
  isOver = false

  constructor(redisUrl: string, notesKey: string) {
    this.#redis = new Redis(redisUrl)
    this.#notesKey = notesKey
  }

  async kill(isMeant: (notes: string) => boolean = () => true): Promise<void> {
    const [notes = ''] = await this.#redis.hvals(this.#notesKey)
    const pid = Number(/"hold":\{"token":"[^"]*?:(\d+):[^"]*"/.exec(notes)?.[1])
    if (!pid || this.killed > 0 || !isMeant(notes)) return
    this.killed++
    process.kill(pid, 'SIGKILL')
  }

  /** As soon as a message is noted. */
  async killWhenNoted(): Promise<void> {
    while (!this.isOver && this.killed === 0) await this.kill((notes) => notes.includes('"outbox":[{'))
  }

  close(): void {
    this.isOver = true
    this.#redis.disconnect()
  }
}

/** By id of a message: the alerts in it. One that is sent again under its id is the same message. */
async function receiver(killer: Killer, moment: Moment) {
  const told = new Map<string, string[]>()
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', async () => {
      const isFirst = killer.killed === 0
      if (isFirst && moment === 'before') {
        await killer.kill()
        response.destroy()
        return
      }
      const { id, alerts } = JSON.parse(text) as { id: string; alerts: { id: string }[] }
      told.set(
        id,
        alerts.map((alert) => alert.id),
      )
      if (isFirst && moment === 'after') await killer.kill()
      if (isFirst && moment === 'one of two') {
        // The other has taken it, and that is noted.
        const isAlone = `"to":["webhook of ${request.headers.host}"]`
        while (killer.killed === 0 && !killer.isOver) await killer.kill((notes) => notes.includes(isAlone))
      }
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    told,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
