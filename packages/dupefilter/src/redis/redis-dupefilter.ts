/**
 * What all filters on Redis share: the asker protocol.
 *
 * Filter and queue may be on different servers, so no transaction covers both "seen" and "queued", and ioredis sends a
 * command again when its reply was lost. A plain "test and set" then loses links: the repeated question is answered "seen"
 * for a link that was never queued. So a question has an asker, which may ask again:
 *
 *     ask        one script tests, records, and notes in `pending` which asker was told "new". That asker is told so
 *                again. So is every other one when the asker has not been settled for `pendingStaleMs`. Time in which no
 *                worker could reach Redis does not count (redis/heard.lua).
 *     settled    the asker's links are queued. This travels with the next question, or alone soon after. The asker's notes
 *                become marks of the run of the queue's Redis. In another run the asker is still told "new", so that a
 *                queue which comes back a second older, and has the page run again, loses nothing.
 *     in doubt   what other askers are told about a link whose asker is not settled: if its page runs again and no longer shows the link,
 *                it would never be queued. So the other asker sets the link aside, and it is asked about once more, as `doubt/<id>`. Between the
 *                two a queue may make the asker's process wait; it then says from time to time that the asker is not stale (asking/kept-askers.ts).
 *     given back the page goes back to the queue, and none of its links is queued. They are free again.
 *     clean      any worker removes marks of the present run after some seconds. Marks of an earlier run stay.
 *
 * An attempt is one run of the asker's callback. When an asker is settled, links that an earlier attempt asked about and
 * this one did not are un-marked: they are not queued, and the next asker is told "new".
 *
 * Not chosen: noting before asking and deleting after queueing, which costs two more round trips; and asking first and
 * recording after queueing, with which two workers are told "new" for the same link.
 */

import { randomUUID } from 'node:crypto'
import {
  type Awaitable,
  createFingerprinter,
  type DupeFilter,
  type DupeFilterDescription,
  type FingerprintAlgorithm,
  type Fingerprinter,
  fingerprinterNote,
  type Logger,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  type RedisScript,
  type Request,
  ScriptRefusal,
  type Seen,
  type StatsCollector,
  silentLogger,
  urlRulesOfNote,
  within,
} from '@webloom/core'
import { askHeader, asksIn } from '../asking/ask-header.ts'
import { type AskReply, askReplyOf } from '../asking/ask-reply.ts'
import { type Asked, askedAbout } from '../asking/asked.ts'
import { Claims, isElsewhere } from '../asking/claims.ts'
import { KeptAskers } from '../asking/kept-askers.ts'
import { joinedQuestions, type Question, QuestionLine } from '../asking/question-line.ts'
import { Questions } from '../asking/questions.ts'
import { RedisRun } from '../asking/redis-run.ts'
import { SeenCache } from '../asking/seen-cache.ts'
import { SettlingLine } from '../asking/settling-line.ts'
import { askScriptOf, eraseScriptOf, keepScript, leaveScriptOf } from './asker-scripts.ts'
import { FilterCrawl } from './filter-crawl.ts'
import {
  askersOf,
  bytesOf,
  type FilterKeys,
  filterKeys,
  forgetAskers,
  hasAny,
  partKey,
} from './filter-keys.ts'
import { FilterPart } from './filter-part.ts'
import type { PartOfFilter, RedisDupeFilterOptions, StoreQuestion } from './redis-dupefilter-options.ts'
import { type RedisConnection, runThroughMoves } from './redis-script.ts'
import { explained } from './store-errors.ts'

const PENDING_STALE_MS = 10_000
/** Of several pages together: Redis serves nobody else for one or two milliseconds. */
const MAX_LINKS_PER_CALL = 128
/** How long `close` tries to tell Redis which askers are settled. If it cannot, some links will be fetched a second time. */
const CLOSE_WAIT_MS = 2000

/** A filter on Redis with askers. Classes that extend it decide how requests are kept. */
export abstract class RedisDupeFilter implements DupeFilter {
  protected readonly redis: RedisConnection
  protected readonly keys: FilterKeys
  protected readonly fingerprinter: Fingerprinter
  protected readonly logger: Logger
  protected readonly typed: string
  protected readonly stats: Pick<StatsCollector, 'inc'> | undefined
  /** What a filter of several parts asks of this one. */
  readonly part: PartOfFilter
  readonly #times: ProtocolTimes['filter']
  readonly #pendingStaleMs: number
  readonly #run: RedisRun
  readonly #cache: SeenCache
  readonly #claims: Claims
  readonly #crawl: FilterCrawl
  readonly #settling: SettlingLine
  readonly #kept: KeptAskers
  readonly #questions: Questions
  readonly #askScript: RedisScript
  #eraseScript: RedisScript | undefined
  readonly #storeFiles: readonly (string | URL)[]
  readonly #id = randomUUID()
  /** When a question of this worker last noted that Redis can be reached. */
  #heardAt = Number.NEGATIVE_INFINITY
  #onceCount = 0
  #forgetCount = 0

  /**
   * @param storeFiles Lua that defines `probe`, `record`, `unmark` and `extra`, and `erase` where it can forget: files of this
   * package's `lua/` by room and name, others by their URL. `lua/redis/set-store.lua` shows what each function is given
   * @param algorithm the rules by which requests are equal, where the options name no fingerprinter
   */
  constructor(
    options: RedisDupeFilterOptions,
    storeFiles: readonly (string | URL)[],
    algorithm: FingerprintAlgorithm,
  ) {
    this.redis = options.redis
    this.keys = filterKeys(partKey(options.key, options.shard))
    this.fingerprinter = options.fingerprinter ?? createFingerprinter({ algorithm })
    this.logger = options.logger ?? silentLogger
    this.typed = options.typed ?? '<spider>'
    const { times = PROTOCOL_TIMES } = options
    this.#times = times.filter
    this.#pendingStaleMs = options.pendingStaleMs ?? PENDING_STALE_MS
    this.#run = new RedisRun({ ...options, times: this.#times })
    this.#cache = new SeenCache({
      ...{ size: options.cacheSize ?? 0, isSha1: this.fingerprinter.hashBytes === 20 },
      ...{ staleMs: this.#pendingStaleMs, trustMs: this.#times.trustMs },
    })
    this.stats = options.stats
    const { redis, keys, logger, stats } = this
    this.#crawl = new FilterCrawl({
      ...{ redis, keys, logger, stats, times: this.#times },
      name: options.crawl ?? (() => ''),
    })
    this.#claims = new Claims((asker) => this.#crawl.tagged(asker))
    const saidAgain = (what: string) => (error: unknown) =>
      this.logger.debug({ err: error }, `Redis did not accept ${what}; trying again later`)
    this.#settling = new SettlingLine({
      // Well before the asker goes stale.
      withinMs: Math.min(this.#times.settleWithinMs, this.#pendingStaleMs / 4),
      tell: () => this.#call([]),
      onFailure: saidAgain('what is settled'),
    })
    this.#kept = new KeptAskers({
      everyMs: this.#pendingStaleMs / 4,
      tell: (owners) => this.#send(keepScript, [], { owners, count: 0 }),
      onFailure: saidAgain('which pages wait for the queue'),
    })
    this.#questions = new Questions({
      fingerprinter: this.fingerprinter,
      ...{ times, stats, claims: this.#claims, cache: this.#cache, run: this.#run },
      pendingStaleMs: this.#pendingStaleMs,
      maxRequestsPerCall: () => this.askAtOnceMax,
      line: new QuestionLine({
        linksMax: () => Math.min(MAX_LINKS_PER_CALL, this.askAtOnceMax),
        call: (questions) => this.#call(questions),
      }),
    })
    this.part = new FilterPart({
      ...{ redis, key: options.key, keys, shard: options.shard, typed: this.typed },
      ...{ claims: this.#claims, run: this.#run, settling: this.#settling, exists: () => this.exists() },
    })
    this.#storeFiles = storeFiles
    this.#askScript = askScriptOf(storeFiles, options.shard !== undefined)
  }

  /** Returns what the filter's own store needs to answer about these requests. No request occurs twice. */
  protected abstract question(asked: readonly Asked[]): StoreQuestion
  /** How many requests one call may ask about. */
  protected get maxRequestsPerCall(): number {
    return 500
  }
  /** @deprecated `maxRequestsPerCall`: until 1.0 a filter of your own may still have it under this name. */
  protected get askAtOnceMax(): number {
    return this.maxRequestsPerCall
  }
  /** How often a question is asked of a store that changes meanwhile: a Bloom filter may grow several times in a row. */
  protected get triesMax(): number {
    return 10
  }
  /** Compares the settings with what is stored. Throws SettingsError when they differ. */
  protected abstract openStore(): Promise<void>
  abstract describe(): Promise<DupeFilterDescription>
  /** Resolves to true when the request was seen before. Records nothing. */
  abstract has(request: Request): Promise<boolean>

  /** Called before a question. An error that it throws is the question's error. */
  protected async prepare(): Promise<void> {}
  /** Takes what the store has added to the answers. */
  protected told(_extra: readonly unknown[]): void {}
  /** Called when the store's Lua has refused a question. Resolves to true when it must be asked again. */
  protected async mayAskAgain(_refusal: ScriptRefusal): Promise<boolean> {
    return false
  }
  /** Resolves to the keys of the filter's own store. */
  protected async storeKeys(): Promise<readonly string[]> {
    return [this.keys.main]
  }
  /** Called when all keys were deleted. */
  protected cleared(): void {}

  async open(): Promise<void> {
    this.#settling.open()
    this.#kept.open()
    this.#crawl.open()
    await this.#run.open(() => this.#cache.clear())
    await this.part.open()
    await this.followNote()
    await this.openStore()
  }

  /**
   * A filter that was begun goes on by the rules that its fingerprints were made by. A Python crawler's filter has no note
   * of them. Throws SettingsError when the settings choose others.
   */
  protected async followNote(): Promise<void> {
    const note = await this.note()
    const wayOut = 'choose another SCHEDULER_DUPEFILTER_KEY, or empty it first: webloom clear'
    if (note === null) return
    this.fingerprinter.urlRules?.follow(urlRulesOfNote(note), `the dupefilter ${this.keys.main}`, wayOut)
  }

  /** Resolves to the note of how the fingerprints were made; to null when there is none, or no fingerprints are left. */
  protected async note(): Promise<string | null> {
    return this.redis.hget(this.keys.record, 'fingerprinter')
  }

  /** Returns what chooses the part that remembers a request, of several with keys of their own. */
  partTextOf(request: Request): string {
    return askedAbout(request, this.fingerprinter).fingerprint
  }

  async close(): Promise<void> {
    try {
      await within(CLOSE_WAIT_MS, 'settling pages', this.#settling.finish())
    } catch (error) {
      const askers = this.#settling.size
      this.logger.warn({ err: error, askers }, 'pages could not be settled: links may be fetched twice')
    } finally {
      this.#settling.close()
      this.#kept.close()
      this.#crawl.close()
    }
  }

  readonly place = (): Promise<string> => this.#crawl.place()
  readonly joined = (goesOn: boolean): Promise<void> => this.#crawl.join(goesOn)
  readonly crawlLost = (): Promise<void> => this.#crawl.lost()
  readonly knowsLostCrawl = (signal?: AbortSignal): Promise<boolean> => this.#crawl.knowsLost(signal)
  readonly crawlsBesides = (queue: string, run?: string): Promise<string[]> => this.#crawl.besides(queue, run)

  /** Empties the filter. If another crawl uses it, only this crawl's own keys are deleted. */
  async clear(): Promise<void> {
    const others = await this.#crawl.others()
    if (others.length > 0) {
      this.logger.info({ key: this.keys.main, crawls: others }, 'the dupefilter stays: other crawls use it')
      return this.crawlEnded()
    }
    this.#claims.clear()
    this.#settling.clear()
    await forgetAskers(this.redis, this.keys)
    const { pending, owners, record } = this.keys
    const { keys, isInUse } = await this.#crawl.keysOfAll()
    // One command: a worker that asks in between must not find bits without their record, or a record without bits.
    await this.redis.unlink(...(await this.storeKeys()), pending, owners, record, ...keys)
    await this.#crawl.cleared(isInUse)
    this.cleared()
    this.#cache.clear()
  }

  async crawlEnded(): Promise<void> {
    const { tag } = this.#crawl
    if (tag === '') return
    await within(CLOSE_WAIT_MS, 'settling pages', this.#settling.finish())
    const script = leaveScriptOf(this.#storeFiles)
    for await (const found of askersOf(this.redis, this.keys)) {
      const owners = found.filter((asker) => asker.endsWith(tag))
      if (owners.length > 0) await this.#send(script, [], { owners, count: 0 })
    }
    await this.#crawl.left()
  }

  /** Resolves to true when Redis has keys of this filter. Writes nothing, and may be called before `open`. */
  async exists(): Promise<boolean> {
    return hasAny(this.redis, [...(await this.storeKeys()), this.keys.record])
  }

  /** Resolves to the bytes of memory that the filter takes, but for askers under way; to undefined where Redis cannot tell. */
  async memoryBytes(): Promise<number | undefined> {
    const { pending, owners, settled, record } = this.keys
    return bytesOf(this.redis, [...(await this.storeKeys()), pending, owners, settled, record])
  }

  async requestSeen(request: Request, asker?: string): Promise<boolean> {
    // An asker of its own, so that a command that is sent twice gets the same answer twice.
    const name = asker ?? `once/${this.#id}/${++this.#onceCount}`
    const [seen] = await this.requestsSeen([request], name)
    if (asker === undefined) await this.settled(name)
    return seen !== false
  }

  requestsSeen(requests: readonly Request[], asker: string): Promise<Seen[]> {
    const ask = () => this.#questions.ask(requests, asker)
    // What the queue may have lost is in doubt, once it is known that it has another run.
    return this.#run.isUnsure ? this.#run.known().then(ask) : ask()
  }

  mayBeOutdated(asker: string): Awaitable<boolean> {
    return this.#run.mayDifferFrom(this.#claims.runOf(asker))
  }

  async settled(asker: string): Promise<void> {
    const room = this.#settling.add(this.#claims.settle(asker, this.#run.current))
    if (room) await room
  }

  async unsettled(askers: readonly string[]): Promise<void> {
    const run = await this.#run.now()
    // In line behind their settling. Whoever asks before Redis is told of either is in doubt, for that run is young.
    for (const asker of askers) await this.#settling.add(this.#claims.lost(asker, run))
    await this.#settling.tellAll().catch(() => {})
  }

  async givenBack(asker: string): Promise<void> {
    const ended = this.#claims.giveBack(asker)
    if (!ended) return
    await this.#settling.add(ended)
    // A Redis that is away is told later. Until then questions wait, too.
    await this.#settling.tellAll().catch(() => {})
  }

  keepUnsettled(asker: string): () => void {
    return this.#kept.keep(this.#claims.taggedAskerOf(asker))
  }

  /** Implements `forget` for a filter whose Lua defines `erase`. */
  protected async erase(request: Request): Promise<void> {
    this.#eraseScript ??= eraseScriptOf(this.#storeFiles)
    const header = { count: 1, once: [this.#id, ++this.#forgetCount], generation: randomUUID() }
    try {
      await this.#send(this.#eraseScript, [askedAbout(request, this.fingerprinter)], header)
    } catch (error) {
      throw explained(error, this.keys.main)
    }
    // A request that was seen for good may now be new again.
    this.#cache.clear()
  }

  async #call(questions: readonly Question[]): Promise<AskReply> {
    const { asked, at } = joinedQuestions(questions)
    const inWords = (error: unknown) => Promise.reject(explained(error, this.keys.main))
    if (asked.length > 0) await this.prepare().catch(inWords)
    const settling = this.#settling.take()
    const cleaning = this.#run.takeCleaning()
    // A part of a filter may be asked seldom, in a crawl that goes on: its worker is heard all the same.
    const isHeard = asked.length > 0 || settling.some(isElsewhere)
    const isNoted = isHeard && performance.now() - this.#heardAt >= this.#times.heardEveryMs
    const header = askHeader({
      ask: asksIn(questions, at),
      ...{ count: asked.length, settling, cleaning, isNoted, shard: this.part.text },
      ...{ young: this.#run.young, tag: this.#crawl.tag },
      ...{ staleMs: this.#pendingStaleMs, silenceMs: this.#times.silenceMs },
      fingerprinter: fingerprinterNote(this.fingerprinter),
    })
    Object.assign(header, this.#crawl.header(cleaning !== undefined))
    try {
      const reply = askReplyOf(await this.#send(this.#askScript, asked, header))
      if (isNoted) this.#heardAt = performance.now()
      if (cleaning && reply.more) this.#run.goOn(cleaning)
      this.#run.heardOf(reply.now)
      if (!reply.isKnown) await this.#crawl.unknown()
      this.told(reply.extra)
      return reply
    } catch (error) {
      this.#settling.prepend(settling)
      throw explained(error, this.keys.main)
    }
  }

  async #send(
    script: RedisScript,
    asked: readonly Asked[],
    header: object,
    tries = this.triesMax,
  ): Promise<unknown> {
    const { main, pending, owners, record } = this.keys
    const { members, keys = [], header: more, args = [] } = this.question(asked)
    const text = JSON.stringify({ ...header, ...more })
    const allKeys = [main, pending, owners, this.#crawl.settledKey, record, ...keys]
    try {
      return await runThroughMoves(script, this.redis, allKeys, [text, ...members, ...args])
    } catch (error) {
      const isAskedAgain = error instanceof ScriptRefusal && tries > 1 && (await this.mayAskAgain(error))
      if (!isAskedAgain) throw error
      return this.#send(script, asked, header, tries - 1)
    }
  }
}
