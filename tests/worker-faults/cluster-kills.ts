/** Four workers, two of them killed with -9 at random moments and replaced, until the crawl is over. */

import {
  type FakeWebOptions,
  type Hit,
  MachineLag,
  type RedisServer,
  startFakeWebProcess,
} from '@webloom/testkit'
import { expect } from 'vitest'
import {
  ClusterFolder,
  fetchCounts,
  randomOf,
  repeatsOfLinks,
  repeatsOfSimultaneous,
} from '../cluster/cluster-crawl.ts'
import type { Running } from '../projects/command-hosts.ts'
import { allowedRepeats } from './allowed-repeats.ts'

export interface KillRound {
  readonly seed: number
  readonly mode: 'turns' | 'job'
  readonly pages: number
  readonly queueRedis: RedisServer
  readonly filterRedis: RedisServer
}

/** What a round has shown. */
export interface KillRoundResult {
  readonly seed: number
  readonly pages: number
  readonly repeats: number
  /** What guarantee 1 allows, by the server's own log: see `allowedRepeats` and `repeatsOfSimultaneous`. */
  readonly repeatsMax: number
  /** From each kill until another worker fetched something that the dead one held, milliseconds; 0: it held nothing. */
  readonly takenOverMs: readonly number[]
  /** How late timers came in each of these times. */
  readonly lagMs: readonly number[]
}

const CONCURRENCY = 8

/** Throws where a page is missing, or a worker does not end in order. */
export async function killRound(round: KillRound): Promise<KillRoundResult> {
  const { seed, mode, pages, queueRedis, filterRedis } = round
  await Promise.all([queueRedis.command('FLUSHALL'), filterRedis.command('FLUSHALL')])
  const random = randomOf(seed)
  const hosts = 10
  const options: FakeWebOptions = {
    seed,
    hosts,
    pagesPerHost: pages / hosts,
    crossHostLinks: 0.2,
    latencyMs: [0, 20],
  }
  await using web = await startFakeWebProcess(options)
  await using folder = await ClusterFolder.of(web, {
    QUEUE_REDIS_URL: queueRedis.url,
    DUPEFILTER_REDIS_URL: [filterRedis.url],
    QUEUE_MODE: mode,
    CONCURRENT_REQUESTS: CONCURRENCY,
    LOG_FORMAT: 'json',
  })
  let started = 0
  /** Each names itself to the server. */
  const workers = new Map<string, Running>()
  const start = () => {
    const name = `${seed}-${started++}`
    workers.set(name, folder.worker(name, '-s', `USER_AGENT=${name}`))
  }
  for (let n = 0; n < 4; n++) start()
  // Two moments in the middle part of the crawl.
  const moments = [random(), random()]
    .map((part) => Math.round(web.linked().size * (0.1 + 0.7 * part)))
    .sort((a, b) => a - b)
  const kills: { readonly atMs: number; readonly isOfLost: (hit: Hit) => boolean }[] = []
  using lag = new MachineLag()
  for (const hits of moments) {
    await web.waitForHits(hits, 240_000)
    const [name, victim] = [...workers][Math.floor(random() * workers.size)]!
    victim.kill('SIGKILL')
    kills.push({ atMs: performance.now(), isOfLost: ({ headers }) => headers['user-agent'] === name })
    workers.delete(name)
    start()
  }
  for (const worker of workers.values()) {
    const { code, stderr } = await worker.exited
    expect(code, stderr).toBe(0)
  }
  const hits = await web.hits()
  const counts = fetchCounts(hits)
  const missing = [...web.linked()].filter((url) => !counts.has(url))
  expect(missing, `seed ${seed}: pages never crawled`).toEqual([])
  const takenOver = kills.map(({ atMs, isOfLost }) => takenOverMs(hits, atMs, isOfLost))
  const allowed = kills.map(({ atMs, isOfLost }) =>
    allowedRepeats(web, hits, { killedAtMs: atMs, heldMax: CONCURRENCY, isOfLost }),
  )
  const items = new Set(folder.itemUrls())
  expect([...web.reachable()].filter((url) => !items.has(url))).toEqual([])
  return {
    seed,
    pages: counts.size,
    repeats: repeatsOfLinks(web, hits),
    repeatsMax: allowed.reduce((a, b) => a + b) + repeatsOfSimultaneous(web, hits),
    takenOverMs: takenOver,
    lagMs: kills.map(({ atMs }, n) => lag.between(atMs, atMs + takenOver[n]!)),
  }
}

/** What a worker has in hand was fetched so lately. */
const IN_HAND_MS = 1000

/** From the kill to the first page that is fetched again of those fetched just before it; 0 when none is. */
function takenOverMs(hits: readonly Hit[], killedAtMs: number, isOfLost: (hit: Hit) => boolean): number {
  const lately = hits.filter(
    (hit) => hit.atMs <= killedAtMs && hit.atMs > killedAtMs - IN_HAND_MS && isOfLost(hit),
  )
  const urls = new Set(lately.map(({ url }) => url))
  const again = hits.find(({ url, atMs }) => atMs > killedAtMs && urls.has(url))
  return again ? Math.round(again.atMs - killedAtMs) : 0
}
