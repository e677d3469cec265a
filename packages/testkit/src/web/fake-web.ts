import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { WebGraph } from '../graph/graph.ts'
import { type FakeWebOptions, type FakeWebPlan, planOf } from '../graph/options.ts'
import { Answers } from './answers.ts'
import { FakeHost } from './fake-host.ts'
import { type Hit, HitLog, type OpenHit } from './hit-log.ts'
import { FakeWebTruth } from './truth.ts'

/** Answers one scripted path. What it throws is not caught, so that the test fails. */
export type RouteHandler = (request: IncomingMessage, response: ServerResponse, hit: Hit) => unknown

/** Starts a fake web in this process. The same seed and options always give the same web, but for the ports. */
export async function startFakeWeb(options: FakeWebOptions = {}): Promise<FakeWeb> {
  const plan = planOf(options)
  const hosts = Array.from({ length: plan.hosts }, (_, host) => new FakeHost({ ...plan, host }))
  // All of them, so that none comes up after the others were taken down.
  const opened = await Promise.allSettled(hosts.map((host) => host.up()))
  const failed = opened.find((result) => result.status === 'rejected')
  if (failed === undefined) return new FakeWeb(plan, hosts)
  await Promise.all(hosts.map((host) => host.down()))
  throw failed.reason
}

/**
 * A web of real HTTP servers on loopback that knows what a crawl of it must find, and logs every request.
 * Made by `startFakeWeb`.
 */
export class FakeWeb extends FakeWebTruth {
  /** Every request, and what can be asked about them; the commonest questions are methods here. */
  readonly log: HitLog
  readonly #plan: FakeWebPlan
  readonly #hosts: readonly FakeHost[]
  readonly #answers: Answers
  readonly #routes = new Map<string, RouteHandler>()
  readonly #connectionIds = new WeakMap<Socket, number>()
  #connectionsOpened = 0

  constructor(plan: FakeWebPlan, hosts: readonly FakeHost[]) {
    const site = { graph: new WebGraph(plan), origins: hosts.map((host) => host.origin) }
    super(site)
    this.log = new HitLog({ hitsMax: plan.hitsMax })
    this.#plan = plan
    this.#hosts = hosts
    this.#answers = new Answers(site)
    hosts.forEach((host, slot) => {
      host.on('connection', (socket) => this.#connected(slot, socket))
      host.on('request', (request, response) => this.#received(slot, request, response))
    })
  }

  /** Every request so far, in the order of arrival; an entry changes once more, when its answer ends. */
  get hits(): readonly Hit[] {
    return this.log.hits
  }

  hitsOf(url: string): Hit[] {
    return this.log.hitsOf(url)
  }

  countOf(url: string): number {
    return this.log.countOf(url)
  }

  /** Returns when the requests of a host arrived, in order, in milliseconds of `performance.now()`. */
  starts(host: number): number[] {
    return this.log.starts(host)
  }

  /** The least time between two arrivals at a host; Infinity when there were fewer than two. */
  smallestGapMs(host: number): number {
    return this.log.smallestGapMs(host)
  }

  /** The most requests that were being answered at one moment, at one host or (without a host) all together. */
  maxConcurrent(host?: number): number {
    return this.log.maxConcurrent(host)
  }

  /** Returns how many connections to a host were opened, or were open and used, since the log began. */
  connections(host: number): number {
    return this.log.connections(host)
  }

  /** Resolves as soon as there were `count` hits (of one URL, when given); rejects after `timeoutMs`. */
  waitForHits(count: number, timeoutMs?: number, url?: string): Promise<void> {
    return this.log.waitForHits(count, timeoutMs, url)
  }

  /** Empties the log. How often flaky pages have failed stays. */
  resetHits(): void {
    this.log.reset()
  }

  /**
   * Scripts one path of a host, or of all with `null`; a later script replaces an earlier one, and any comes before
   * the page that is there. The path is matched with its query first, then without. Scripted requests are logged,
   * but the truth does not know of them.
   */
  route(host: number | null, path: string, handler: RouteHandler): void {
    this.#routes.set(`${host ?? 'any'} ${path}`, handler)
  }

  /** Cuts the connections of a host and refuses new ones, until `hostUp`. The truth does not change. */
  hostDown(host: number): Promise<void> {
    return this.#host(host).down()
  }

  hostUp(host: number): Promise<void> {
    return this.#host(host).up()
  }

  /** Cuts every connection and stops listening. The truth and the log stay readable. */
  async close(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.down()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #host(slot: number): FakeHost {
    const host = this.#hosts[slot]
    if (host === undefined)
      throw new RangeError(`fake web: there is no host ${slot}, only ${this.#hosts.length}`)
    return host
  }

  #connected(slot: number, socket: Socket): void {
    this.#connectionsOpened += 1
    this.#connectionIds.set(socket, this.#connectionsOpened)
    this.log.connectionUsed(slot, this.#connectionsOpened)
  }

  #received(slot: number, request: IncomingMessage, response: ServerResponse): void {
    // A client that takes a host for its proxy sends the whole URL.
    const whole = /^https?:\/\/[^/]+/.exec(request.url!)?.[0] ?? ''
    const path = request.url!.slice(whole.length)
    const hit = this.#logged(slot, (whole || this.origins[slot]) + path, request, response)
    const script = this.#routeOf(slot, path)
    if (script) script(request, response, hit)
    else this.#answers.answer(slot, path, request, response)
  }

  #logged(slot: number, url: string, request: IncomingMessage, response: ServerResponse): Hit {
    const hit: OpenHit = {
      url,
      host: slot,
      method: request.method!,
      headers: this.#plan.hitHeaders ? request.headers : {},
      atMs: performance.now(),
      connectionId: this.#connectionIds.get(request.socket)!,
      status: 0,
      aborted: false,
    }
    response.on('close', () => {
      hit.endedAtMs = performance.now()
      hit.status = response.headersSent ? response.statusCode : 0
      hit.aborted = !response.writableFinished
    })
    this.log.add(hit)
    return hit
  }

  #routeOf(slot: number, path: string): RouteHandler | undefined {
    if (this.#routes.size === 0) return undefined
    const paths = [path, path.split('?')[0]]
    const keys = paths.flatMap((known) => [`${slot} ${known}`, `any ${known}`])
    return keys.map((key) => this.#routes.get(key)).find((handler) => handler !== undefined)
  }
}
