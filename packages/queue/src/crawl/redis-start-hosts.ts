import { hash } from 'node:crypto'
import {
  ENTRY_BYTES,
  type Logger,
  RecentBytes,
  START_BATCH_MAX,
  type StartHosts,
  silentLogger,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'
import { untilTaken } from '../redis/until-taken.ts'

// 2 ** 21, 2 MiB: some 13 000 hosts. What is not remembered is noted once more.
const KNOWN_BYTES_MAX = 2_097_152

// On Redis, by all workers. A host takes about 75 bytes, and 130 at most: 40 to 68 MB.
const HOSTS_MAX = 524_288
// As many as a batch of start() has requests: some 0.3 ms of Redis.
const MAX_HOSTS_PER_SCRIPT = START_BATCH_MAX
/** How often a Redis that takes no writes is tried again. */
const AGAIN_MS = 200
// A longer name stands there as its SHA-1.
const NAME_LENGTH_MAX = 64

// A Redis that is full, or takes no writes now, must not end start() here: the request itself waits for it later.
const addScript = new OomSafeScript('crawl/add-start-hosts.lua')
const notePublicScript = new OomSafeScript('crawl/note-public-host.lua')

export interface RedisStartHostsOptions {
  /** The queue's; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly hostsMax?: number
  /** Told once that there is no room for more. */
  readonly logger?: Logger
}

interface Batch {
  readonly hosts: Set<string>
  readonly noted: Promise<void>
}

/**
 * The start hosts of a crawl that workers share: sets beside the queue. Past the bound further hosts count as none. Hosts
 * that are added at the same moment are noted by one script.
 */
export class RedisStartHosts implements StartHosts {
  readonly #redis: Redis
  readonly #keys: readonly [startHosts: string, publicHosts: string]
  readonly #record: string
  readonly #hostsMax: number
  readonly #logger: Logger
  #known = new RecentBytes<string, true>(KNOWN_BYTES_MAX)
  /** What is added before the current task ends. */
  #batch: Batch | undefined
  #hasWarned = false

  constructor({ redis, keys, hostsMax = HOSTS_MAX, logger = silentLogger }: RedisStartHostsOptions) {
    this.#redis = redis
    this.#keys = [keys.startHosts, keys.publicHosts]
    this.#record = keys.record
    this.#hostsMax = hostsMax
    this.#logger = logger
  }

  async add(hostAndPort: string): Promise<void> {
    if (this.#known.get(hostAndPort)) return
    if (!this.#batch || this.#batch.hosts.size >= MAX_HOSTS_PER_SCRIPT) this.#batch = this.#newBatch()
    this.#batch.hosts.add(hostAndPort)
    await this.#batch.noted
  }

  /** Asks Redis each time, as another worker may have found a public address since. */
  async has(hostAndPort: string): Promise<boolean> {
    // A worker of an earlier release leaves a host with a public address in both sets.
    const [isStartHost, isPublic] = await Promise.all(
      this.#keys.map((key) => this.#redis.sismember(key, nameOf(hostAndPort))),
    )
    return isStartHost === 1 && isPublic === 0
  }

  async notePublic(hostAndPort: string): Promise<void> {
    await notePublicScript.run(this.#redis, this.#keys, [nameOf(hostAndPort)])
  }

  /** Called when queue and filter are emptied, as the next crawl has start hosts of its own. */
  async clear(): Promise<void> {
    this.#known = new RecentBytes(KNOWN_BYTES_MAX)
    this.#hasWarned = false
    await this.#redis.unlink(...this.#keys)
  }

  #newBatch(): Batch {
    const hosts = new Set<string>()
    return { hosts, noted: Promise.resolve().then(() => this.#note(hosts)) }
  }

  async #note(batch: ReadonlySet<string>): Promise<void> {
    if (this.#batch?.hosts === batch) this.#batch = undefined
    const hosts = [...batch]
    const [keys, args] = [
      [...this.#keys, this.#record],
      [this.#hostsMax, ...hosts.map(nameOf)],
    ]
    const add = () => addScript.run(this.#redis, keys, args)
    const answer = await untilTaken(add, { isOver: () => false, everyMs: AGAIN_MS, logger: this.#logger })
    if (Number(answer) < 0) return
    const firstWithoutRoom = hosts[Number(answer) - 1]
    if (firstWithoutRoom !== undefined) this.#warn(firstWithoutRoom)
    for (const host of hosts) this.#known.set(host, true, ENTRY_BYTES + host.length)
  }

  #warn(hostAndPort: string): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#logger.warn(
      { host: hostAndPort, hosts: this.#hostsMax },
      'this crawl has too many start hosts to keep them all: this one and further ones may not have private addresses. Name those that need them in PRIVATE_ADDRESSES_ALLOWED',
    )
  }
}

function nameOf(hostAndPort: string): string {
  return hostAndPort.length <= NAME_LENGTH_MAX ? hostAndPort : hash('sha1', hostAndPort)
}
