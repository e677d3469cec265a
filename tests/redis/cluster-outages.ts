/** Crawls whose Redis servers fail in the middle: killed and started again, cut off, or full. */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type FakeWebProcess,
  type Hit,
  InUse,
  type RedisServer,
  startFakeWebProcess,
  startRedis,
  startTcpProxy,
  type TcpProxy,
} from '@webloom/testkit'
import { expect } from 'vitest'
import { ClusterFolder, expectComplete, followingSpider, messagesOf } from '../cluster/cluster-crawl.ts'
import type { Running } from '../projects/command-hosts.ts'

/** Downloads at once of each of the two workers. */
const CONCURRENCY = 8
/** A Redis that writes to disk every second may come back without its last second, or the one before. */
const AOF_BEHIND_MS = 2000
/** Less than a Redis needs when it is empty. */
const FULL = '500kb'

export type Role = 'queue' | 'filter'

export interface OutageOptions {
  readonly mode: 'turns' | 'job'
  readonly pagesPerHost?: number
  readonly settings?: Readonly<Record<string, unknown>>
  /** Of the protocol's times. */
  readonly factor?: number
}

/** Two workers on four hosts, with a Redis of their own for each role behind a proxy of its own. */
export class OutageCrawl implements AsyncDisposable {
  readonly web: FakeWebProcess
  readonly folder: ClusterFolder
  readonly servers: Readonly<Record<Role, RedisServer>>
  readonly proxies: Readonly<Record<Role, TcpProxy>>
  readonly workers: Running[] = []
  readonly #used: InUse

  private constructor(parts: {
    web: FakeWebProcess
    folder: ClusterFolder
    servers: Record<Role, RedisServer>
    proxies: Record<Role, TcpProxy>
    used: InUse
  }) {
    this.web = parts.web
    this.folder = parts.folder
    this.servers = parts.servers
    this.proxies = parts.proxies
    this.#used = parts.used
  }

  static async of({ mode, pagesPerHost = 150, settings, factor }: OutageOptions): Promise<OutageCrawl> {
    await using used = new InUse()
    const servers = {
      queue: used.use(await startRedis({ appendonly: 'everysec' })),
      filter: used.use(await startRedis({ appendonly: 'everysec' })),
    }
    const proxies = {
      queue: used.use(await startTcpProxy({ target: servers.queue.url })),
      filter: used.use(await startTcpProxy({ target: servers.filter.url })),
    }
    const web = used.use(
      await startFakeWebProcess({ hosts: 4, pagesPerHost, crossHostLinks: 0.2, latencyMs: [0, 40] }),
    )
    const folder = used.use(
      await ClusterFolder.of(
        web,
        {
          QUEUE_REDIS_URL: proxies.queue.url,
          DUPEFILTER_REDIS_URL: [proxies.filter.url],
          QUEUE_MODE: mode,
          CONCURRENT_REQUESTS: CONCURRENCY,
          LOG_FORMAT: 'json',
          ...settings,
        },
        followingSpider(web),
        factor,
      ),
    )
    return new OutageCrawl({ web, folder, servers, proxies, used: used.move() })
  }

  /** Resolves when that part of the pages was fetched. */
  async startTwoUntil(part: number): Promise<void> {
    for (const name of ['a', 'b']) this.workers.push(this.folder.worker(name))
    await this.web.waitForHits(Math.round(part * this.web.linked().size), 120_000)
  }

  /** Every worker ends in order, and every page was crawled. */
  async expectEnd({ more = 0 }: { more?: number } = {}): Promise<void> {
    const ended = await Promise.all(this.workers.map(({ exited }) => exited))
    for (const { code, stderr } of ended) expect(code, stderr).toBe(0)
    try {
      await expectComplete(this.web, this.folder, { more })
    } catch (error) {
      const logs = ended.map(({ stderr }) => stderr).join('\n')
      throw new Error(`${(error as Error).message}\n${logs}`, { cause: error })
    }
    const { stdout } = await this.folder.run('status', 'pages', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      state: 'finished',
      counts: { waiting: 0, delayed: 0, leased: 0, quarantined: 0 },
    })
  }

  /**
   * How much may be fetched again after a server has lost its last seconds: the pages of that time, what was in flight, and
   * where the filter has forgotten them, the links of those pages.
   */
  async repeatsAfterLoss(role: Role, atMs: number): Promise<number> {
    const lost = (await this.web.hits()).filter((hit) => isLost(hit, atMs))
    const links = lost.flatMap(({ url }) => this.web.page(url)?.links ?? [])
    return lost.length + 2 * CONCURRENCY + (role === 'filter' ? new Set(links).size : 0)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#used.close()
  }
}

function isLost({ atMs: hitAtMs }: Hit, atMs: number): boolean {
  return hitAtMs > atMs - AOF_BEHIND_MS && hitAtMs < atMs
}

/** A crash of the server, with `kill -9`: it comes back with what it had written to its file. */
export async function killedAndRestarted(role: Role, options: OutageOptions): Promise<void> {
  await using crawl = await OutageCrawl.of(options)
  await crawl.startTwoUntil(0.3)
  await crawl.servers[role].kill()
  const more = await crawl.repeatsAfterLoss(role, performance.now())
  await crawl.servers[role].restart()
  await crawl.expectEnd({ more })
}

/** Nothing passes any more, and nobody is told; or nobody answers. */
export async function cutOff(
  role: Role,
  how: 'hang' | 'down',
  ms: number,
  options: OutageOptions,
): Promise<void> {
  await using crawl = await OutageCrawl.of(options)
  await crawl.startTwoUntil(0.3)
  const proxy = crawl.proxies[role]
  if (how === 'hang') proxy.hang()
  else await proxy.down()
  // Waits: so long the outage lasts.
  await sleep(ms)
  if (how === 'hang') proxy.flow()
  else await proxy.up()
  await crawl.expectEnd()
}

/** Nothing more goes in for a while. */
export async function full(role: Role, ms: number, options: OutageOptions): Promise<void> {
  await using crawl = await OutageCrawl.of(options)
  await crawl.startTwoUntil(0.2)
  const server = crawl.servers[role]
  await server.command('CONFIG', 'SET', 'maxmemory', '1')
  // Waits: so long the outage lasts.
  await sleep(ms)
  await server.command('CONFIG', 'SET', 'maxmemory', '0')
  await crawl.expectEnd()
}

/** The queue's Redis may hold no more than it does in mid-crawl: what is crawled must make the room for what is found. */
export async function fullUntilDrained(options: OutageOptions): Promise<void> {
  await using crawl = await OutageCrawl.of(options)
  await crawl.startTwoUntil(0.2)
  const { queue } = crawl.servers
  const used = /used_memory:(\d+)/.exec(String(await queue.command('INFO', 'memory')))![1]!
  await queue.command('CONFIG', 'SET', 'maxmemory', used)
  await crawl.expectEnd()
}

/** A worker is stopped, until all it had is another's, and goes on. */
export async function stoodStill(ms: number, options: OutageOptions): Promise<void> {
  await using crawl = await OutageCrawl.of(options)
  await crawl.startTwoUntil(0.3)
  const [sleeper] = crawl.workers
  sleeper!.kill('SIGSTOP')
  // Waits: so long the worker stands still.
  await sleep(ms)
  sleeper!.kill('SIGCONT')
  await crawl.expectEnd()
}

/** Two workers come when nothing goes in: one waits until there is room, and another ends when it is told to. */
export async function joinsFull(mode: 'turns' | 'job'): Promise<void> {
  await using redis = await startRedis()
  await using web = await startFakeWebProcess({ hosts: 1, pagesPerHost: 10 })
  const settings = { REDIS_URL: redis.url, QUEUE_MODE: mode, LOG_FORMAT: 'json' }
  await using folder = await ClusterFolder.of(web, settings)
  await redis.command('CONFIG', 'SET', 'maxmemory', FULL)
  const workers = [folder.worker('a'), folder.worker('b')] as const
  for (const worker of workers)
    await worker.waitForOutput(/joining the crawl must wait: Redis has reached its maxmemory.*CONFIG SET/)
  workers[1].kill('SIGTERM')
  const told = await workers[1].exited
  expect(messagesOf(told).at(-1)).toBe('crawl ended: shutdown')
  expect(told.stderr).not.toContain('unexpected error')
  await redis.command('CONFIG', 'SET', 'maxmemory', '0')
  const { code, stderr } = await workers[0].exited
  expect(code, stderr).toBe(0)
  expect((await web.hits()).length).toBe(web.linked().size)
}
