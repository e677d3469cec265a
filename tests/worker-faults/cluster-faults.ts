/**
 * Faults at an exact command: a worker killed just before or just after one of its commands to Redis, and replies that
 * are lost. Nothing in the product knows of it: the commands pass through proxies that know the scripts by their names.
 */

import {
  type CommandMatch,
  type FakeWebProcess,
  InUse,
  type RedisServer,
  startFakeWebProcess,
  startTcpProxy,
  type TcpProxy,
} from '@webloom/testkit'
import { expect } from 'vitest'
import { ClusterFolder, expectComplete, freshCrawlId, seededSpider } from '../cluster/cluster-crawl.ts'
import type { Running } from '../projects/command-hosts.ts'
import type { CommandNames } from './command-names.ts'

/** One command of a worker's life. */
export interface CommandAt {
  /** See `CommandNames`. */
  readonly name: string
  /** Its how-manieth; default the first. */
  readonly nth?: number
  /** Only those count; default all. */
  readonly which?: CommandMatch
}

export interface FaultServers {
  readonly queue: RedisServer
  /** Dupefilter and seeds. */
  readonly filter: RedisServer
}

export interface FaultCrawlOptions extends FaultServers {
  /** What its CRAWL_ID begins with; each crawl has its own. */
  readonly name: string
  readonly mode: 'turns' | 'job'
  readonly names: CommandNames
  readonly settings?: Readonly<Record<string, unknown>>
  /** Of the protocol's times. */
  readonly factor?: number
}

export interface NextWorker {
  /** It comes a day after the one that was killed. */
  readonly aDayLater?: boolean
}

/** Sent when some time has passed, or has not, or when two pages meet a link at once: one crawl may, and the next may not. */
const BY_THE_CLOCK: ReadonlySet<string> = new Set([
  'redis/crawl-goes-on',
  'redis/leave',
  'leasing/doubts-take',
  'buckets/doubts',
  // Starts are noted by the script that takes them; taken back, and noted again, where a request has waited at its worker.
  'SREM',
  'SADD',
  'PEXPIRE',
  // Asked by the worker that is told that its note is new: it is not, when the reply is lost or comes too late and it notes again.
  'HLEN',
])

/** A command by the clock must come in one of so many crawls. */
const CRAWLS_MAX = 12

const DAY_MS = 86_400_000

/** A small crawl, one half from start() and one half from seeds, whose first worker talks to Redis through proxies. */
export class FaultCrawl implements AsyncDisposable {
  readonly web: FakeWebProcess
  readonly folder: ClusterFolder
  readonly #options: FaultCrawlOptions
  readonly #crawlId: string
  readonly #proxies: { readonly queue: TcpProxy; readonly filter: TcpProxy }
  readonly #used = new InUse()

  private constructor(
    options: FaultCrawlOptions,
    parts: {
      crawlId: string
      web: FakeWebProcess
      folder: ClusterFolder
      proxies: { queue: TcpProxy; filter: TcpProxy }
    },
  ) {
    this.#options = options
    this.#crawlId = parts.crawlId
    this.web = parts.web
    this.folder = parts.folder
    this.#proxies = parts.proxies
    for (const part of [parts.web, parts.folder, parts.proxies.queue, parts.proxies.filter])
      this.#used.use(part)
  }

  static async of(options: FaultCrawlOptions): Promise<FaultCrawl> {
    const { queue, filter, name } = options
    const crawlId = freshCrawlId(name)
    // Without links between the two, a seed that comes late is not found by a link before.
    const web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 25 })
    const [first, second] = web.seeds
    await filter.command('RPUSH', `pages:${crawlId}:start_urls`, second!)
    const proxies = {
      queue: await startTcpProxy({ target: queue.url }),
      filter: await startTcpProxy({ target: filter.url }),
    }
    const settings = {
      CRAWL_ID: crawlId,
      QUEUE_MODE: options.mode,
      CONCURRENT_REQUESTS: 4,
      LOG_FORMAT: 'json',
      ...options.settings,
    }
    const folder = await ClusterFolder.of(web, settings, seededSpider([first!]), options.factor)
    return new FaultCrawl(options, { crawlId, web, folder, proxies })
  }

  /** A worker behind the proxies. */
  startVictim(): Running {
    this.#useServers(this.#proxies)
    return this.folder.worker('victim')
  }

  /** A worker that talks to Redis directly. */
  startRescuer(): Running {
    this.#useServers(this.#options)
    return this.folder.worker('rescuer')
  }

  /** Calls `act` when that command comes; with `holds` it does not reach Redis, and its connection is cut. */
  at(command: CommandAt, { holds, act }: { holds: boolean; act: () => void }): void {
    const { names } = this.#options
    let left = command.nth ?? 1
    const match: CommandMatch = (words) => {
      if (names.nameOf(words) !== command.name || (command.which && !command.which(words))) return false
      if (--left !== 0) return false
      act()
      return holds
    }
    for (const proxy of [this.#proxies.queue, this.#proxies.filter])
      proxy.dropBefore(match, { times: Number.POSITIVE_INFINITY })
  }

  /** Its reply is lost, and the worker has to find out. Returns whether that has happened. */
  cutReply(command: CommandAt): () => boolean {
    let left = command.nth ?? 1
    const match: CommandMatch = (words) => this.#options.names.nameOf(words) === command.name && --left === 0
    const faults = [this.#proxies.queue, this.#proxies.filter].map((proxy) => proxy.cutReplyOf(match))
    return () => faults.some(({ count }) => count > 0)
  }

  /** All commands that a worker of this crawl sends, by name, with how often; once it has ended. */
  async commandCounts(): Promise<Map<string, number>> {
    const met = new Map<string, number>()
    for (const proxy of [this.#proxies.queue, this.#proxies.filter])
      proxy.dropBefore((words) => {
        const name = this.#options.names.nameOf(words)
        met.set(name, (met.get(name) ?? 0) + 1)
        return false
      })
    const { code, stderr } = await this.startVictim().exited
    expect(code, stderr).toBe(0)
    met.delete('')
    return met
  }

  /** What of this crawl Redis forgets by itself within a day is gone. */
  async letADayPass(): Promise<void> {
    for (const redis of [this.#options.queue, this.#options.filter]) {
      for (const key of (await redis.command('KEYS', `*pages?${this.#crawlId}[:}]*`)) as string[]) {
        const livesMs = Number(await redis.command('PTTL', key))
        if (livesMs > DAY_MS) await redis.command('PEXPIRE', key, livesMs - DAY_MS)
        else if (livesMs >= 0) await redis.command('DEL', key)
      }
    }
  }

  /** @param log what the workers have said, for whoever has to find out why */
  async expectComplete({ log }: { log: string }): Promise<number> {
    try {
      return await expectComplete(this.web, this.folder)
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${log}`, { cause: error })
    }
  }

  #useServers({ queue, filter }: { queue: { url: string }; filter: { url: string } }): void {
    this.folder.configure({
      QUEUE_REDIS_URL: queue.url,
      SEEDS_REDIS_URL: filter.url,
      DUPEFILTER_REDIS_URL: [filter.url],
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#used.close()
  }
}

/**
 * A worker is killed with -9 just before or just after one of its commands, and a second one is started: nothing may be
 * lost. A crawl in which a command by the clock does not come must be whole, too, and nothing done twice; then there is another one.
 */
export async function killedAt(
  command: CommandAt,
  when: 'before' | 'after',
  options: FaultCrawlOptions & NextWorker,
): Promise<void> {
  const crawls = BY_THE_CLOCK.has(command.name) ? CRAWLS_MAX : 1
  let log = ''
  for (let crawl = 0; crawl < crawls; crawl++) {
    const once = await killedOnce(command, when, options)
    if (once.struck) return
    log = once.log
  }
  throw new Error(`${command.name} did not come in ${crawls} crawl(s); the last:\n${log}`)
}

/** Not struck: the worker did not send the command, and all is crawled. */
async function killedOnce(
  command: CommandAt,
  when: 'before' | 'after',
  { aDayLater = false, ...options }: FaultCrawlOptions & NextWorker,
): Promise<{ readonly struck: boolean; readonly log: string }> {
  await using crawl = await FaultCrawl.of(options)
  const { promise: struck, resolve } = Promise.withResolvers<true>()
  const victim = crawl.startVictim()
  crawl.at(command, {
    holds: when === 'before',
    act: () => {
      victim.kill(when === 'before' ? 'SIGKILL' : 'SIGSTOP')
      resolve(true)
    },
  })
  const ended = await Promise.race([struck, victim.exited])
  if (ended !== true && ended.code !== null) {
    expect(ended.code, ended.stderr).toBe(0)
    expect(await crawl.expectComplete({ log: ended.stderr }), 'pages fetched again').toBe(0)
    return { struck: false, log: ended.stderr }
  }
  // Redis does one thing after the other: when it answers this, it has done what it was sent before.
  await Promise.all([options.queue.command('PING'), options.filter.command('PING')])
  victim.kill('SIGKILL')
  await victim.exited
  if (aDayLater) await crawl.letADayPass()
  const { code, stderr } = await crawl.startRescuer().exited
  expect(code, stderr).toBe(0)
  const log = `${victim.stderr}\n${stderr}`
  await crawl.expectComplete({ log })
  return { struck: true, log }
}

/** Each of these commands loses a reply, those by the clock if they are sent: nothing may be lost, and nothing done twice. */
export async function cutRepliesOf(
  commands: readonly CommandAt[],
  options: FaultCrawlOptions,
): Promise<void> {
  await using crawl = await FaultCrawl.of(options)
  const hasStruck = commands.map((command) => crawl.cutReply(command))
  const { code, stderr } = await crawl.startVictim().exited
  expect(code, stderr).toBe(0)
  expect(
    commands.filter(({ name }, n) => !hasStruck[n]!() && !BY_THE_CLOCK.has(name)).map(({ name }) => name),
    'commands that were not met',
  ).toEqual([])
  expect(await crawl.expectComplete({ log: stderr }), 'pages fetched again').toBe(0)
}
