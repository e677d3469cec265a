/** `webloom export`: writes what a crawl still has to fetch, for another crawler or another place. */

import { createWriteStream, realpathSync, statSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import { encodeScrapyRequest, type Request, requestToJson, UsageError, WebloomError } from '@webloom/core'
import { ScrapyRedisQueue } from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import type { OutsideFlags } from '../assembly/crawl-from-outside.ts'
import { scrapyQueueKey, scrapyQueueServer } from '../assembly/scrapy-redis-leftovers.ts'
import { EXIT } from '../exit-codes.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { SeedProgressLine } from '../progress/seed-progress.ts'
import { typedCrawl } from '../redis/typed-crawl.ts'
import { grouped } from '../terminal/figures.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'
import { processScreen } from '../terminal/screen.ts'
import { pairOf, snakeCase } from '../transfer/callback-names.ts'
import { type CrawlSource, withCrawlSource } from '../transfer/crawl-source.ts'
import { scrapySeed } from '../transfer/scrapy-seed.ts'

export interface ExportFlags extends OutsideFlags {
  readonly seeds?: boolean
  readonly to?: string
  readonly callback?: readonly string[]
  readonly output?: string
}

/** Where requests are written to. */
interface Outlet {
  readonly shown: string
  /** Resolves to why the request cannot be written there; to undefined when it was written. */
  write(request: Request): Promise<string | undefined>
  end(): Promise<void>
  /** Called when the export is incomplete: nothing of it may stay. */
  giveUp(): Promise<void>
}

const MAX_REQUESTS_PER_PUSH = 500
const PROBLEMS_TOLD_MAX = 20

/** Returns the exit code: 1 when some of it could not be written. */
export async function exportCrawl(
  Class: SpiderClass,
  flags: ExportFlags,
  config: LoadedConfig,
): Promise<number> {
  checkFlags(flags)
  // To a crawl, -o names its items' file.
  const { output: _, ...outside } = flags
  return withCrawlSource(Class, outside, config, async (source) => {
    const outlet = flags.to === undefined ? lineOutlet(flags) : await scrapyOutlet(source, flags)
    return writeAll(source, outlet, flags)
  })
}

async function writeAll(source: CrawlSource, outlet: Outlet, flags: ExportFlags): Promise<number> {
  const progress = new SeedProgressLine(processScreen(), source.crawler.spider.name)
  const problems: string[] = []
  let [written, left] = [0, 0]
  try {
    for await (const { id, request, unreadable } of source.entries) {
      const problem = request ? await outlet.write(request) : unreadable
      if (problem === undefined) written++
      else if (left++ < PROBLEMS_TOLD_MAX) problems.push(`${request?.url ?? id}: ${problem}`)
      progress.update({ pushed: written, bad: left, read: written / Math.max(1, source.size) })
    }
    await source.checkStill()
    if (written + left !== source.size)
      throw new WebloomError(
        'WL_OUTPUT_FAILED',
        `${source.shown} counts ${source.size} requests, and ${written + left} were found: the crawl has gone on meanwhile, or its queue is damaged. What was written is incomplete`,
      )
    await outlet.end()
  } catch (error) {
    await outlet.giveUp()
    throw error
  } finally {
    progress.stop()
  }
  for (const problem of problems) processScreen().write(`${visible(problem)}\n`)
  report({ from: source.shown, to: outlet.shown, written, left }, flags)
  return left > 0 ? EXIT.unexpected : EXIT.finished
}

function checkFlags({ seeds, to, output }: ExportFlags): void {
  if (to !== undefined && to !== 'scrapy-redis')
    throw new UsageError('WL_USAGE', `--to is ${JSON.stringify(to)}; expected scrapy-redis`)
  if (to !== undefined && (seeds || output !== undefined))
    throw new UsageError(
      'WL_USAGE',
      `--to scrapy-redis writes to Redis; it goes with neither --seeds nor --output`,
    )
}

/** JSON lines, on stdout or in a file. */
function lineOutlet({ seeds, output }: ExportFlags): Outlet {
  const file = output === undefined ? undefined : fileBeside(output)
  const stream = file === undefined ? process.stdout : createWriteStream(file.writtenTo)
  let failure: Error | undefined
  stream.on('error', (error) => {
    failure = error
  })
  return {
    shown: output ?? 'standard output',
    async write(request) {
      const line = seeds ? scrapySeed(request) : JSON.stringify(requestToJson(request))
      if (line === undefined)
        return 'a seed cannot say its callback, cookies, headers or body; write it without --seeds'
      if (failure) throw notWritten(output, failure)
      if (!stream.write(`${line}\n`)) await drained(stream, () => failure)
      return undefined
    },
    async end() {
      if (output !== undefined) {
        stream.end()
        await finished(stream).catch(() => {})
      }
      if (failure) throw notWritten(output, failure)
      await file?.keep()
    },
    async giveUp() {
      if (output === undefined) return
      stream.destroy()
      await finished(stream).catch(() => {})
      await file?.drop()
    },
  }
}

/** A file is written beside its place and takes it when it is whole: what an earlier export wrote stays until then. */
function fileBeside(output: string) {
  const there = statSync(output, { throwIfNoEntry: false })
  // A device or a pipe takes what it is given, and has no name that could be given away.
  if (there && !there.isFile()) return { writtenTo: output, keep: async () => {}, drop: async () => {} }
  const path = there ? realpathSync(output) : output
  const writtenTo = `${path}.${process.pid}.part`
  return {
    writtenTo,
    keep: () => rename(writtenTo, path),
    drop: () => rm(writtenTo, { force: true }),
  }
}

function drained(stream: NodeJS.WritableStream, failure: () => Error | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (failure()) return resolve()
    stream.once('drain', resolve)
    stream.once('error', () => resolve())
  })
}

function notWritten(output: string | undefined, cause: Error): WebloomError {
  return new WebloomError(
    'WL_OUTPUT_FAILED',
    `${output ?? 'standard output'} takes no more: ${cause.message}`,
    { cause },
  )
}

/**
 * The queue of a Python crawl. It is filled beside its key and gets its name at the end, so that a Python worker finds all of
 * it or nothing, and an export that was cut off can be begun again.
 */
async function scrapyOutlet({ crawler }: CrawlSource, { callback = [] }: ExportFlags): Promise<Outlet> {
  const { settings, spider, logger } = crawler
  const { redis, shown, close } = await scrapyQueueServer(settings, logger)
  const key = scrapyQueueKey(settings, spider.name)
  if ((await redis.exists(key)) === 1) {
    close()
    throw new UsageError(
      'WL_USAGE',
      `${key} on ${shown} is not empty: what waits there would be mixed with this crawl. webloom import scrapy-redis ${typedCrawl(spider, settings)}  takes it over; or name another key with SCHEDULER_QUEUE_KEY`,
    )
  }
  const type = settings.get('SCHEDULER_QUEUE_CLASS') === 'priority' ? 'zset' : 'list'
  const serializer = serializerOf(settings.get('SCHEDULER_SERIALIZER'))
  const beside = new ScrapyRedisQueue({ redis, key: `{${key}}:export` })
  const given = new Map(callback.map(pairOf))
  const nameOf = (name: string) => given.get(name) ?? FRAMEWORK_METHODS[name] ?? snakeCase(name)
  await redis.del(beside.key)
  let alike = 0
  let batch: { data: Buffer; priority: number }[] = []
  const push = async () => {
    await beside.push(type, batch)
    batch = []
  }
  return {
    shown: `${key} on ${shown}`,
    async write(request) {
      const ordinal = type === 'zset' && request.dontFilter ? { ordinal: ++alike } : {}
      const data = encodeScrapyRequest(request, { serializer, nameOf, ...ordinal })
      batch.push({ data, priority: request.priority })
      if (batch.length >= MAX_REQUESTS_PER_PUSH) await push()
      return undefined
    },
    async end() {
      await push()
      const isNew = (await redis.exists(beside.key)) === 0 || (await redis.renamenx(beside.key, key)) === 1
      close()
      if (!isNew)
        throw new WebloomError(
          'WL_OUTPUT_FAILED',
          `another program has written to ${key} meanwhile; nothing was written there`,
        )
    },
    // What is beside the key is deleted by the next export.
    async giveUp() {
      close()
    },
  }
}

function serializerOf(serializer: unknown): 'pickle' | 'json' {
  return typeof serializer === 'string' && /json/i.test(serializer) ? 'json' : 'pickle'
}

const FRAMEWORK_METHODS: Readonly<Record<string, string>> = {
  parseByRule: '_callback',
  failByRule: '_errback',
  parseSitemap: '_parse_sitemap',
}

function report(
  { from, to, written, left }: { from: string; to: string; written: number; left: number },
  { json, to: where, output }: ExportFlags,
): void {
  const isStdoutTaken = where === undefined && output === undefined
  const print = (text: string) => (isStdoutTaken ? process.stderr.write(`${text}\n`) : console.log(text))
  if (json) return void print(visibleJson(JSON.stringify({ from, to, written, left })))
  const requests = (count: number) => `${grouped(count)} request${count === 1 ? '' : 's'}`
  print(
    `wrote ${requests(written)} of ${visible(from)} to ${visible(to)}${written > 0 ? '; they still wait there, too' : ''}`,
  )
  if (left > 0) print(`${requests(left)} could not be written`)
}
