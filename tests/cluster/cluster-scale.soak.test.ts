/** How many workers `webloom scale` asks for, followed as an autoscaler would, and what scaling in costs. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ScaleSeen } from '@webloom/core'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Running } from '../projects/command-hosts.ts'
import { ClusterFolder, settingsOf } from './cluster-crawl.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

/** Four requests at once, each for 200 ms: twenty pages a second. */
const ANSWER_MS = 200
const CONCURRENT_REQUESTS = 4
/** Rates are measured over ten seconds: after as long, and a heartbeat, all are of the workers that there are. */
const STEP_MS = 16_000

interface SlowSite extends AsyncDisposable {
  readonly urlsOf: (pagesPerHost: number) => string
  readonly hits: Map<string, number>
}

/** Hosts 127.1.a.b, all of one server, which notes what it was asked for. */
async function slowSite(hosts: number): Promise<SlowSite> {
  const hits = new Map<string, number>()
  const server = createServer((request, response) => {
    const url = `${request.headers.host}${request.url}`
    hits.set(url, (hits.get(url) ?? 0) + 1)
    setTimeout(() => response.end('<p>a page</p>'), ANSWER_MS)
  })
  await new Promise<void>((listening) => server.listen(0, '0.0.0.0', listening))
  const { port } = server.address() as AddressInfo
  return {
    hits,
    urlsOf: (pagesPerHost) => `for (let page = 0; page < ${pagesPerHost}; page++)
      for (let host = 0; host < ${hosts}; host++)
        yield new Request(\`http://127.1.\${host >> 8}.\${host & 255}:${port}/\${page}\`)`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

function listingSpider(urls: string): string {
  return `import { Request, type Response, Spider } from 'webloom'

export default class Pages extends Spider {
  name = 'pages'
  async *start() {
    ${urls}
  }
  *parse(response: Response) {
    yield { url: response.url }
  }
}
`
}

const polite = (name: string, delay: number) =>
  settingsOf(redis, name, {
    CONCURRENT_REQUESTS,
    DOWNLOAD_DELAY: delay,
    RANDOMIZE_DOWNLOAD_DELAY: false,
    ROBOTSTXT_OBEY: false,
    START_LOW_WATER: 1_000_000,
    SCHEDULER_PERSIST: true,
  })

class ScaledWorkers {
  readonly running: Running[] = []
  readonly #folder: ClusterFolder
  #started = 0

  constructor(folder: ClusterFolder) {
    this.#folder = folder
  }

  /** As an autoscaler does: starts some, or ends some in order. */
  async become(count: number): Promise<void> {
    while (this.running.length < count) this.running.push(this.#folder.worker(`w${++this.#started}`))
    const ended = this.running.splice(count)
    for (const worker of ended) worker.kill('SIGTERM')
    await Promise.all(ended.map(({ exited }) => exited))
  }

  async wanted(): Promise<ScaleSeen> {
    const seen = JSON.parse((await this.#folder.run('scale', 'pages', '--json')).stdout) as ScaleSeen
    console.log(`${this.running.length} run, ${seen.desired} would help: ${seen.words}`)
    return seen
  }
}

describe('workers that are bounded by how long a site takes to answer', () => {
  test('at 5 000 hosts that allow 150 pages a second: seven or eight within two steps, and scaling in loses nothing', async () => {
    const [hosts, pages] = [5000, 4]
    await using site = await slowSite(hosts)
    await using folder = await ClusterFolder.of(
      { seeds: [] },
      polite('many', hosts / 150),
      listingSpider(site.urlsOf(pages)),
    )
    const workers = new ScaledWorkers(folder)
    await workers.become(1)
    await expect.poll(() => site.hits.size, { timeout: 60_000 }).toBeGreaterThan(100)
    const asked: number[] = []
    for (let step = 0; step < 4; step++) {
      // Waits: what is measured is measured over that time.
      await sleep(STEP_MS)
      const { desired } = await workers.wanted()
      // At once: what is started beyond that would make all slower.
      expect(desired).toBeLessThan(10)
      asked.push(desired)
      await workers.become(desired)
    }
    for (const desired of asked.slice(1)) expect([7, 8]).toContain(desired)

    await workers.become(2)
    await workers.become(8)
    await Promise.all(workers.running.map(({ exited }) => exited))
    expect(site.hits.size).toBe(hosts * pages)
    expect([...site.hits.values()].filter((times) => times > 1)).toEqual([])
    expect(new Set(folder.itemUrls()).size).toBe(hosts * pages)
  })

  test('at 50 hosts with a delay of two seconds: never more than two', async () => {
    const hosts = 50
    await using site = await slowSite(hosts)
    await using folder = await ClusterFolder.of(
      { seeds: [] },
      polite('few', 2),
      listingSpider(site.urlsOf(200)),
    )
    const workers = new ScaledWorkers(folder)
    await workers.become(1)
    await expect.poll(() => site.hits.size, { timeout: 60_000 }).toBeGreaterThan(50)
    for (let step = 0; step < 4; step++) {
      // Waits: what is measured is measured over that time.
      await sleep(STEP_MS)
      const { desired } = await workers.wanted()
      expect(desired).toBeLessThanOrEqual(2)
      await workers.become(desired)
    }
    // However many there are already.
    await workers.become(5)
    // Waits: as long as a step above: what is wanted must not follow what is there.
    await sleep(STEP_MS)
    expect((await workers.wanted()).desired).toBeLessThanOrEqual(2)
    await folder.run('stop', 'pages')
  })
})
