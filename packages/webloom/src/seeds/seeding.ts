import {
  crawlUrlRules,
  methodNamed,
  putUnderRules,
  type Request,
  type Settings,
  UsageError,
  WebloomError,
  withDeadline,
} from '@webloom/core'
import { MAX_SEEDS_PER_PUSH, type RedisSeedPush, type SeedToPush } from '@webloom/queue'
import { RedisCrawlSpider, RedisSpider, requestFromSeed, type SeededSpider } from '@webloom/spider'
import { SeedProgressLine } from '../progress/seed-progress.ts'
import { grouped } from '../terminal/figures.ts'
import { visible } from '../terminal/sanitize.ts'
import { processScreen } from '../terminal/screen.ts'
import type { SeedInput } from './seed-input.ts'
import type { SeedLine } from './seed-lines.ts'

/** Long messages go in smaller batches. */
const MAX_BYTES_PER_PUSH = 2 ** 20
/** Bad lines that are told one by one; the others are counted. */
const PROBLEMS_TOLD_MAX = 20

export interface SeedingOptions {
  readonly spider: SeededSpider
  readonly settings: Settings
  /** --score. */
  readonly score: string | undefined
  readonly push: RedisSeedPush
  /** For messages. */
  readonly redis: string
}

/** One run of the command: what has been read, found good, and pushed. */
export class Seeding {
  readonly progress: SeedProgressLine
  readonly problems: { place: string; reason: string }[] = []
  pushed = 0
  /** Of these, how many were not there before. */
  added = 0
  bad = 0
  /** How many wait there, as Redis said last. */
  waiting: number | undefined
  readonly #options: SeedingOptions
  readonly #check: (text: string) => Request | undefined
  readonly #score: number | undefined
  #batch: SeedToPush[] = []
  #batchBytes = 0

  constructor(options: SeedingOptions) {
    const { spider, settings, score } = options
    this.#options = options
    this.#check = checkOf(spider, settings)
    this.#score = score === undefined ? undefined : scoreOf(score)
    this.progress = new SeedProgressLine(processScreen(), spider.name)
  }

  async run(input: SeedInput): Promise<void> {
    for await (const lines of input.lines) {
      for (const line of lines) {
        this.#take(line, input)
        if (this.#batch.length >= MAX_SEEDS_PER_PUSH || this.#batchBytes >= MAX_BYTES_PER_PUSH)
          await this.#pushBatch()
      }
      this.progress.update({ pushed: this.pushed, bad: this.bad, read: input.read() })
    }
    await this.#pushBatch()
  }

  #take({ number, text, problem }: SeedLine, { placeOf }: SeedInput): void {
    try {
      if (problem !== undefined) throw new TypeError(problem)
      const request = this.#check(text)
      this.#batch.push({ message: text, score: this.#score ?? request?.priority ?? 0 })
      this.#batchBytes += text.length
    } catch (error) {
      this.bad++
      if (this.problems.length === PROBLEMS_TOLD_MAX) return
      const told = { place: placeOf(number), reason: (error as Error).message }
      this.problems.push(told)
      processScreen().write(`${visible(told.place)}: ${visible(told.reason)}\n`)
    }
  }

  async #pushBatch(): Promise<void> {
    if (this.#batch.length === 0) return
    const batch = this.#batch
    this.#batch = []
    this.#batchBytes = 0
    const { added, waiting } = await this.#inTime(this.#options.push.push(batch))
    this.pushed += batch.length
    this.added += added
    this.waiting = waiting
  }

  async #inTime<T>(pushing: Promise<T>): Promise<T> {
    const { settings, redis } = this.#options
    const seconds = settings.getFloat('REDIS_START_TIMEOUT')
    const soFar = `${grouped(this.pushed)} were pushed before`
    const late = () =>
      new WebloomError(
        'WL_REDIS_UNREACHABLE',
        `Redis at ${redis} has not answered for ${seconds} s (REDIS_START_TIMEOUT); ${soFar}, and up to ${MAX_SEEDS_PER_PUSH} more may be there`,
      )
    try {
      return await withDeadline(seconds * 1000, pushing, late)
    } catch (error) {
      if (error instanceof WebloomError && error.code !== 'WL_REDIS_REFUSED') throw error
      throw new WebloomError(
        'WL_OUTPUT_FAILED',
        `Redis at ${redis} takes no seeds: ${(error as Error).message}; ${soFar}`,
        {
          cause: error,
        },
      )
    }
  }
}

/** What the crawl would say to a message; a spider that reads messages in its own way is not asked. */
function checkOf(spider: SeededSpider, settings: Settings): (text: string) => Request | undefined {
  const isUsual = [RedisSpider, RedisCrawlSpider].some(
    ({ prototype }) => prototype.makeRequestFromData === spider.makeRequestFromData,
  )
  if (!isUsual) return () => undefined
  const [format, trusted] = [settings.get('SEEDS_FORMAT'), settings.getBool('SEEDS_TRUSTED')]
  const rules = crawlUrlRules(settings)
  return (text) => {
    const request = requestFromSeed(text, { format, trusted, spider })
    putUnderRules(request, rules.current)
    if (typeof request.callback === 'string') methodNamed(spider, request.callback, 'callback')
    if (typeof request.errback === 'string') methodNamed(spider, request.errback, 'errback')
    return request
  }
}

function scoreOf(text: string): number {
  const score = Number(text)
  if (text.trim() !== '' && Number.isFinite(score)) return score
  throw new UsageError(
    'WL_USAGE',
    `--score is ${JSON.stringify(text)}; expected a number, and the highest goes first`,
  )
}
