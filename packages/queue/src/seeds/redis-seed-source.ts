/**
 * Start URLs from a Redis list, set or sorted set, as scrapy-redis has them; none is ever in a process's memory only.
 *
 *     take       one script moves messages from the key to a hash, under ids that it makes, and notes until when
 *                nobody else gets them.
 *     hold       while they are worked on, time and again. What is not held any more, because its worker died or
 *                its reply was lost, is handed out again under the same id: the filter and the queue know that asker
 *                and add nothing twice.
 *     settle     when all requests of a message are queued it is removed, but no sooner than five seconds later and only
 *                when the queue's Redis has not been restarted in between, nor could be replaced by one that lacks them. Seeds
 *                and queue may be on two servers, and one that writes to disk every second comes back without its last
 *                second, a replica that takes its place without what it took when it was cut off. If it was restarted, the
 *                message is handed out again. What the queue has noted of its requests it keeps until then: however late
 *                the message comes again, none is queued twice.
 *
 * The run of the queue's Redis is asked for *before* a seed is handed out: asked for after its request was queued, it
 * could be that of a server that has come back without it.
 *
 * A seed may ask to wait (`meta.seed_delay`, in seconds). Its message is held back in the hash, with the end of its delay as
 * the time until which no worker gets it.
 *
 * Not chosen: a list of messages in work for each worker, by LMOVE. Removing one from such a list means looking for it,
 * it serves lists only, and finding the messages of the dead means knowing all workers.
 */

import {
  type Logger,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  type Request,
  redisRefusal,
  type ScriptRunner,
  type Seed,
  type SeedSource,
  type StatsCollector,
  waitAtMost,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { luaScript } from '../redis/lua.ts'
import { pendingSeeds } from './seed-counts.ts'
import { replyOfSeeds, type SeedKeys, seedKeys, seedTypeOf } from './seed-keys.ts'
import { messageIdOf, SeedMessage, type SeedPast } from './seed-message.ts'

export interface RedisSeedSourceOptions {
  /** The seeds' Redis. Opened and closed by whoever gives it. */
  readonly redis: Redis
  /** The key of the start URLs, with spider and CRAWL_ID in it. */
  readonly key: string
  /** Messages taken at a time, at most. */
  readonly batchSize: number
  readonly workerId: string
  /** What a message asks for. Throws when it asks for nothing that can be requested; the message is then invalid. */
  readonly makeRequests: (data: string) => readonly Request[] | Promise<readonly Request[]>
  /** The run id of the queue's Redis, as that server says it now. */
  readonly redisRunId: () => Promise<string>
  /** The same, asked for before messages are removed: rejects while that server could be replaced by one that is older. Default: `redisRunId`. */
  readonly keptRunId?: () => Promise<string>
  /** `settled` of the queue: the seed's message is removed, so that nobody can queue its request again. */
  readonly settled: (asker: string) => Promise<void>
  readonly logger: Logger
  readonly stats: Pick<StatsCollector, 'inc'>
  /** How long a message stays with a worker that does not renew it. Default 10 000; it is renewed five times in that time. */
  readonly leaseMs?: number
  /**
   * How long a message outlives the queueing of its requests. Default 5000: longer than what a fail-over may lose, and than a Redis
   * that writes to disk every second may lack.
   */
  readonly ripeMs?: number
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
}

/** The most messages that one process works on. It takes no more until some are settled. */
const HELD_MAX = 10_000
/** Messages named in one script. */
const MAX_MESSAGES_PER_SCRIPT = 500
/** Invalid messages kept, the newest. */
const INVALID_KEPT_MAX = 10_000
/** The invalid list keeps the beginning of a longer message. */
const INVALID_CHARS_MAX = 65_536
/** How long `close` may take beside the time in which what was queued last ripens. */
const CLOSE_WAIT_MS = 1500

const TAKE = luaScript('seeds/take.lua')
const HOLD = luaScript('seeds/hold.lua')
const SETTLE = luaScript('seeds/settle.lua')
const DELAY = luaScript('seeds/delay.lua')

/** Start URLs from a Redis list, set or sorted set, shared by all workers of a crawl. */
export class RedisSeedSource implements SeedSource {
  readonly #options: RedisSeedSourceOptions
  readonly #keys: SeedKeys
  readonly #bytes: ScriptRunner
  readonly #times: ProtocolTimes['seeds']
  readonly #leaseMs: number
  readonly #ripeMs: number
  /** By id: the messages that this process took and has not settled. */
  readonly #held = new Map<string, SeedMessage>()
  /** Of these, the messages that are handed out next. */
  #line: SeedMessage[] = []
  /** Of these, the messages that wait to be removed, oldest answer first. */
  #answered: SeedMessage[] = []
  #run = ''
  #runAskedAt = Number.NEGATIVE_INFINITY
  #settling: Promise<void> | undefined
  /** Redis refused what was settled last, and would refuse it again; or what was held last. */
  #isSettleRefused = false
  #isHoldRefused = false
  #holding: Promise<void> | undefined
  #timers: NodeJS.Timeout[] = []

  constructor(options: RedisSeedSourceOptions) {
    this.#options = options
    this.#times = (options.times ?? PROTOCOL_TIMES).seeds
    this.#keys = seedKeys(options.key, options.redis)
    this.#bytes = repliesAsBytes(options.redis)
    this.#leaseMs = options.leaseMs ?? this.#times.leaseMs
    this.#ripeMs = options.ripeMs ?? this.#times.ripeMs
  }

  get #isRefused(): boolean {
    return this.#isSettleRefused || this.#isHoldRefused
  }

  async open(): Promise<void> {
    await seedTypeOf(this.#options.redis, this.#options.key)
    this.#timers = [
      setInterval(() => void this.#settle(), this.#ripeMs / 4).unref(),
      setInterval(() => void this.#hold(), this.#leaseMs / 5).unref(),
    ]
  }

  async close(): Promise<void> {
    const deadline = performance.now() + this.#ripeMs + CLOSE_WAIT_MS
    // What Redis refuses now it refuses later, too.
    if (this.#answered.length > 0) await waitAtMost(deadline - performance.now(), this.#hold())
    // Unsettled, they would be handed out again, and after a long break their requests crawled again.
    while (this.#answered.length > 0 && !this.#isRefused && performance.now() < deadline) {
      await waitAtMost(deadline - performance.now(), this.#settle())
      if (this.#answered.length > 0 && !this.#isRefused) await waitAtMost(this.#ripeMs / 20)
    }
    for (const timer of this.#timers) clearInterval(timer)
    this.#timers = []
    await waitAtMost(deadline - performance.now(), this.#giveBack())
    this.#held.clear()
    this.#line = []
    this.#answered = []
  }

  async next(max: number): Promise<Seed[]> {
    if (this.#line.length === 0) await this.#take(max)
    if (this.#line.length === 0) return []
    await this.#knowRun()
    const messages = this.#line.splice(0, max)
    return (await Promise.all(messages.map((message) => this.#seedsOf(message)))).flat()
  }

  async acknowledge(seed: Seed): Promise<void> {
    const message = this.#held.get(messageIdOf(seed))
    if (message?.queued(seed)) this.#answered.push(message)
  }

  async reject(seed: Seed, reason: string): Promise<void> {
    const message = this.#held.get(messageIdOf(seed))
    if (message?.rejected(seed, reason)) this.#answered.push(message)
  }

  async pending(): Promise<number> {
    const { waiting, inWork } = await pendingSeeds(this.#options.redis, this.#keys)
    return waiting + inWork
  }

  async #take(max: number): Promise<void> {
    const { batchSize, workerId, stats } = this.#options
    const most = Math.min(max, batchSize, HELD_MAX - this.#held.size)
    if (most <= 0) return
    const { main, processing, leases, record } = this.#keys
    const reply = await replyOfSeeds(
      main,
      TAKE.run(this.#bytes, [main, processing, leases, record], [most, workerId, this.#leaseMs]),
    )
    for (const message of messagesIn(reply as Buffer[])) {
      // This process slept and lost the message, and has taken it again.
      if (this.#held.has(message.id)) continue
      this.#held.set(message.id, message)
      this.#line.push(message)
      stats.inc(message.past === 'held' || message.past === 'due' ? 'seeds/redelivered' : 'seeds/taken')
    }
  }

  /** An outdated one costs no more than handing out a few messages twice. */
  async #knowRun(): Promise<void> {
    if (performance.now() - this.#runAskedAt < this.#times.runIdAgeMs) return
    await this.#askRun()
  }

  async #askRun(runId = this.#options.redisRunId): Promise<string> {
    const askedAt = performance.now()
    this.#run = await runId()
    this.#runAskedAt = askedAt
    return this.#run
  }

  /** Never rejects: a failure makes the message invalid. */
  async #seedsOf(message: SeedMessage): Promise<Seed[]> {
    message.run = this.#run
    try {
      const { text } = message
      if (text === undefined) throw new TypeError('it is not UTF-8')
      const requests = await this.#options.makeRequests(text)
      if (requests.length === 0) throw new TypeError('makeRequestFromData returned no request for it')
      const delayMs = message.hasWaited ? 0 : delayOf(requests)
      if (delayMs > 0) return await this.#delay(message, delayMs)
      return message.seeds(requests)
    } catch (error) {
      message.isInvalid((error as Error).message)
      this.#answered.push(message)
      return []
    }
  }

  async #delay(message: SeedMessage, delayMs: number): Promise<Seed[]> {
    const { redis, logger, stats } = this.#options
    this.#held.delete(message.id)
    try {
      await DELAY.run(redis, [this.#keys.processing, this.#keys.leases], [message.id, delayMs])
      stats.inc('seeds/delayed')
    } catch (error) {
      // The message is no longer held, so it is handed out again, and delayed then.
      logger.warn({ seed: message.id, err: error }, 'a seed could not be delayed; trying again')
    }
    return []
  }

  /** One call at a time; never rejects. */
  #settle(): Promise<void> {
    this.#settling ??= this.#settleAnswered()
      .then((hasAsked) => {
        if (hasAsked) this.#isSettleRefused = false
      })
      .catch((error: unknown) => {
        this.#isSettleRefused = redisRefusal(error) !== undefined
        this.#options.logger.debug({ err: error }, 'seeds could not be settled; trying again')
      })
      .finally(() => {
        this.#settling = undefined
      })
    return this.#settling
  }

  /** Resolves to false where there was nothing to ask Redis for. */
  async #settleAnswered(): Promise<boolean> {
    const ripeBefore = performance.now() - this.#ripeMs
    const ripe = this.#answered.filter(({ isQueued, answeredAt }) => !isQueued || answeredAt <= ripeBefore)
    if (ripe.length === 0) return false
    const { redisRunId, keptRunId = redisRunId } = this.#options
    const run = ripe.some(({ isQueued }) => isQueued) ? await this.#askRun(keptRunId) : this.#run
    const isLost = (message: SeedMessage) => message.isQueued && message.run !== run
    const lost = ripe.filter(isLost)
    if (lost.length > 0) this.#handOutAgain(lost)
    const done = ripe.filter((message) => !isLost(message))
    for (let from = 0; from < done.length; from += MAX_MESSAGES_PER_SCRIPT) {
      await this.#remove(done.slice(from, from + MAX_MESSAGES_PER_SCRIPT))
    }
    return true
  }

  /** The queue's Redis was started anew since their requests were queued, and may not know them any more. */
  #handOutAgain(messages: readonly SeedMessage[]): void {
    const { logger, stats } = this.#options
    logger.info(
      { seeds: messages.length },
      'the queue’s Redis was restarted: its latest seeds are queued again',
    )
    stats.inc('seeds/redelivered', messages.length)
    this.#forgetAnswers(messages)
    this.#line.push(...messages)
  }

  async #remove(messages: readonly SeedMessage[]): Promise<void> {
    const { redis, stats, logger } = this.#options
    const { processing, leases, invalid } = this.#keys
    const entries = messages.map((message) => (message.reason === '' ? '' : this.#invalidEntry(message)))
    const pairs = messages.flatMap(({ id }, n) => [id, entries[n]!])
    await SETTLE.run(redis, [processing, leases, invalid], [INVALID_KEPT_MAX, ...pairs])
    this.#forgetAnswers(messages)
    await this.#settleInQueue(messages)
    for (const { id } of messages) this.#held.delete(id)
    for (const { id, reason } of messages) {
      if (reason === '') continue
      stats.inc('seeds/invalid')
      logger.warn({ seed: id, reason }, `a seed is invalid: it is kept in ${invalid}`)
    }
    const queued = messages.filter(({ isQueued }) => isQueued).length
    if (queued > 0) stats.inc('seeds/acknowledged', queued)
  }

  /** Never rejects: the queue keeps the notes of an asker that is not settled for longer, which does no harm. */
  async #settleInQueue(messages: readonly SeedMessage[]): Promise<void> {
    const { settled, logger } = this.#options
    const queued = messages.filter(({ isQueued }) => isQueued).flatMap(({ seedIds }) => seedIds)
    try {
      await Promise.all(queued.map((id) => settled(id)))
    } catch (error) {
      logger.debug({ err: error }, 'seeds are queued and removed, and the queue could not be told')
    }
  }

  #forgetAnswers(messages: readonly SeedMessage[]): void {
    const forgotten = new Set(messages)
    this.#answered = this.#answered.filter((message) => !forgotten.has(message))
  }

  #invalidEntry({ id, bytes, text, reason }: SeedMessage): string {
    const kept = text === undefined ? bytes.toString('base64') : text
    return JSON.stringify({
      [text === undefined ? 'base64' : 'data']: kept.slice(0, INVALID_CHARS_MAX),
      ...(kept.length > INVALID_CHARS_MAX && { bytes: bytes.length }),
      reason,
      at: new Date().toISOString(),
      worker: this.#options.workerId,
      id,
    })
  }

  /** One call at a time; never rejects. */
  #hold(): Promise<void> {
    this.#holding ??= this.#holdAll()
      .then(() => {
        this.#isHoldRefused = false
      })
      .catch((error: unknown) => {
        this.#isHoldRefused = redisRefusal(error) !== undefined
        this.#options.logger.debug({ err: error }, 'seeds could not be held; trying again')
      })
      .finally(() => {
        this.#holding = undefined
      })
    return this.#holding
  }

  async #holdAll(): Promise<void> {
    const ids = [...this.#held.keys()]
    for (let from = 0; from < ids.length; from += MAX_MESSAGES_PER_SCRIPT) {
      const some = ids.slice(from, from + MAX_MESSAGES_PER_SCRIPT)
      await HOLD.run(this.#options.redis, [this.#keys.leases], [this.#leaseMs, ...some])
    }
  }

  /** Messages that are not settled need not wait until their holder counts as lost. */
  async #giveBack(): Promise<void> {
    const ids = [...this.#held.keys()]
    for (let from = 0; from < ids.length; from += MAX_MESSAGES_PER_SCRIPT) {
      const some = ids.slice(from, from + MAX_MESSAGES_PER_SCRIPT)
      await this.#options.redis.zadd(this.#keys.leases, 'XX', ...some.flatMap((id) => [0, id]))
    }
  }
}

function* messagesIn(reply: readonly Buffer[]): Generator<SeedMessage> {
  for (let at = 0; at < reply.length; at += 3) {
    yield new SeedMessage(String(reply[at]), String(reply[at + 1]) as SeedPast, reply[at + 2]!)
  }
}

/** Returns the longest delay that one of the requests asks for, in milliseconds. */
function delayOf(requests: readonly Request[]): number {
  return 1000 * Math.max(...requests.map(({ hasMeta, meta }) => (hasMeta ? Number(meta.seed_delay ?? 0) : 0)))
}

/** The same connection; a message may hold any bytes. */
function repliesAsBytes(redis: Redis): ScriptRunner {
  return {
    evalsha: (...args) => redis.callBuffer('evalsha', ...args),
    eval: (...args) => redis.callBuffer('eval', ...args),
  }
}
