import type { IncomingHttpHeaders } from 'node:http'

/** One request that reached the fake web, scripted routes and `robots.txt` included. */
export interface Hit {
  /** Absolute, by the address that was connected to; what the Host header says is in `headers`. */
  readonly url: string
  /** The slot of the host that was connected to. */
  readonly host: number
  readonly method: string
  /** Empty with `hitHeaders: false`. */
  readonly headers: IncomingHttpHeaders
  /** When its headers had been read, in milliseconds of `performance.now()`. */
  readonly atMs: number
  /** Unique in one web: requests that share a kept-alive connection share it. */
  readonly connectionId: number
  /** What was answered; 0 as long as nothing was, and for a connection that was reset or left hanging. */
  readonly status: number
  /** When the answer was complete or the connection gone; absent while it is being answered. */
  readonly endedAtMs?: number
  /** True when the connection went, from whichever side, before the answer was complete. */
  readonly aborted: boolean
}

/** A hit that is still being answered: the log's side of it. */
export type OpenHit = { -readonly [Field in keyof Hit]: Hit[Field] }

/** A log on its way to another process. */
export interface HitSnapshot {
  readonly hits: readonly Hit[]
  /** The connections of each host, by id. */
  readonly connections: ReadonlyMap<number, ReadonlySet<number>>
}

interface Waiter {
  readonly count: number
  readonly url: string | undefined
  readonly resolve: () => void
}

/** Remembers every request and answers what a test asks about them. */
export class HitLog {
  readonly #hits: OpenHit[] = []
  readonly #hitsMax: number
  readonly #counts = new Map<string, number>()
  readonly #connections = new Map<number, Set<number>>()
  readonly #waiters = new Set<Waiter>()
  #received = 0

  constructor({ hitsMax = Number.POSITIVE_INFINITY }: { hitsMax?: number } = {}) {
    this.#hitsMax = hitsMax
  }

  /** The log that another process kept. `shiftMs` takes its clock to this process's. */
  static fromSnapshot({ hits, connections }: HitSnapshot, shiftMs: number): HitLog {
    const log = new HitLog()
    for (const [host, ids] of connections) for (const id of ids) log.connectionUsed(host, id)
    for (const hit of hits) log.add(shifted(hit, shiftMs))
    return log
  }

  /** All of it as plain values. */
  toSnapshot(): HitSnapshot {
    return { hits: this.hits, connections: this.#connections }
  }

  /** Every hit, in the order of arrival. Throws once there were more than `hitsMax`, rather than showing a part. */
  get hits(): readonly Hit[] {
    if (this.#received > this.#hits.length) {
      throw new RangeError(
        `fake web: ${this.#received} hits and hitsMax is ${this.#hitsMax}; raise hitsMax or call resetHits() between phases`,
      )
    }
    return this.#hits
  }

  /** How many hits there were; cheap, and right past `hitsMax`. */
  get count(): number {
    return this.#received
  }

  hitsOf(url: string): Hit[] {
    return this.hits.filter((hit) => hit.url === url)
  }

  countOf(url: string): number {
    return this.#counts.get(url) ?? 0
  }

  /** Returns when the requests of a host arrived, in order. */
  starts(host: number): number[] {
    return this.#ofHost(host).map((hit) => hit.atMs)
  }

  /** The least time between two arrivals at a host; Infinity when there were fewer than two. */
  smallestGapMs(host: number): number {
    const starts = this.starts(host)
    return starts
      .slice(1)
      .reduce((least, start, before) => Math.min(least, start - starts[before]!), Number.POSITIVE_INFINITY)
  }

  /** The most requests that were being answered at one moment, at one host or (without a host) at all together. */
  maxConcurrent(host?: number): number {
    const hits = host === undefined ? this.hits : this.#ofHost(host)
    const ends = hits.map((hit) => hit.endedAtMs ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b)
    let [ended, most] = [0, 0]
    hits.forEach((hit, begun) => {
      // One that ends at the moment the next begins has made room for it.
      while (ends[ended]! <= hit.atMs && ended < begun) ended += 1
      most = Math.max(most, begun + 1 - ended)
    })
    return most
  }

  /** Returns how many connections to a host were opened, or were open and used, since the log began. */
  connections(host: number): number {
    return this.#connections.get(host)?.size ?? 0
  }

  /** Resolves as soon as there were `count` hits (of one URL, when given); rejects after `timeoutMs`. */
  waitForHits(count: number, timeoutMs = 20_000, url?: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = { count, url, resolve }
    const timer = setTimeout(() => {
      const met = `${this.#countFor(waiter)} of ${count} hits${url === undefined ? '' : ` of ${url}`}`
      reject(new Error(`fake web: only ${met} after ${timeoutMs} ms`))
    }, timeoutMs)
    this.#waiters.add(waiter)
    this.#wake()
    return promise.finally(() => {
      clearTimeout(timer)
      this.#waiters.delete(waiter)
    })
  }

  /** Called by the server for each request; it completes the same object when the answer has ended. */
  add(hit: OpenHit): void {
    this.#received += 1
    if (this.#hits.length < this.#hitsMax) this.#hits.push(hit)
    this.#counts.set(hit.url, this.countOf(hit.url) + 1)
    this.connectionUsed(hit.host, hit.connectionId)
    if (this.#waiters.size > 0) this.#wake()
  }

  connectionUsed(host: number, connectionId: number): void {
    const known = this.#connections.get(host)
    if (known) known.add(connectionId)
    else this.#connections.set(host, new Set([connectionId]))
  }

  reset(): void {
    this.#hits.length = 0
    this.#counts.clear()
    this.#connections.clear()
    this.#received = 0
  }

  #ofHost(host: number): readonly Hit[] {
    return this.hits.filter((hit) => hit.host === host)
  }

  #wake(): void {
    for (const waiter of this.#waiters) if (this.#countFor(waiter) >= waiter.count) waiter.resolve()
  }

  #countFor({ url }: Waiter): number {
    return url === undefined ? this.#received : this.countOf(url)
  }
}

function shifted(hit: Hit, shiftMs: number): Hit {
  const atMs = hit.atMs + shiftMs
  return hit.endedAtMs === undefined ? { ...hit, atMs } : { ...hit, atMs, endedAtMs: hit.endedAtMs + shiftMs }
}
