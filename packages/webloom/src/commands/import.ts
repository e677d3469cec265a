/** `webloom import`: takes over requests that another crawler, or `webloom export`, has left. */

import { ScrapyRedisQueue } from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import type { OutsideFlags } from '../assembly/crawl-from-outside.ts'
import { scrapyQueueKey, scrapyQueueServer } from '../assembly/scrapy-redis-leftovers.ts'
import { EXIT } from '../exit-codes.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { SeedProgressLine } from '../progress/seed-progress.ts'
import { seedInput } from '../seeds/seed-input.ts'
import { grouped } from '../terminal/figures.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'
import { processScreen } from '../terminal/screen.ts'
import { CallbackNames } from '../transfer/callback-names.ts'
import { type Adopted, type CrawlTarget, withCrawlTarget } from '../transfer/crawl-target.ts'
import { LineImport } from '../transfer/line-import.ts'
import { ScrapyImport } from '../transfer/scrapy-import.ts'

export interface ImportFlags extends OutsideFlags {
  readonly dryRun?: boolean
  /** false: `--no-start`. */
  readonly start?: boolean
  readonly callback?: readonly string[]
}

/** What either form of the command has done. */
interface Imported {
  readonly moved: number
  readonly bad: number
  readonly raced: number
  readonly before: number
  readonly readable: number
  readonly problems: readonly { readonly place: string; readonly reason: string }[]
}

/** Moves the queue of a scrapy-redis crawl into ours. Returns the exit code: 1 when some of it stays. */
export async function importScrapyRedis(
  Class: SpiderClass,
  flags: ImportFlags,
  config: LoadedConfig,
): Promise<number> {
  return withCrawlTarget(Class, flags, config, async (target) => {
    const { spider, settings, logger } = target.crawler
    const server = await scrapyQueueServer(settings, logger)
    try {
      const queue = new ScrapyRedisQueue({ redis: server.redis, key: scrapyQueueKey(settings, spider.name) })
      const from = `${queue.key} on ${server.shown}`
      const type = await queue.type()
      if (type === undefined) return reportNothing(from, flags)
      const progress = new SeedProgressLine(processScreen(), spider.name)
      const importing = new ScrapyImport({
        queue,
        type,
        target,
        names: new CallbackNames(spider, flags.callback),
        onProgress: ({ done, bad, part }) => progress.update({ pushed: done, bad, read: part }),
      })
      let adopted: Adopted | undefined
      try {
        await importing.look()
        if (!flags.dryRun && importing.readable > 0) {
          adopted = await target.adopt({ startEnded: flags.start === false })
          await importing.move()
        }
      } finally {
        progress.stop()
      }
      const { problems, ...counts } = importing
      const told = problems.map(({ entry, reason }) => ({ place: `entry ${entry}`, reason }))
      return report({ ...countsOf(counts), problems: told }, { from, target, adopted, flags })
    } finally {
      server.close()
    }
  })
}

/** Queues the lines that `webloom export` has written. Returns the exit code: 1 when a line is bad, which is left out. */
export async function importLines(
  Class: SpiderClass,
  file: string,
  flags: ImportFlags,
  config: LoadedConfig,
): Promise<number> {
  const input = seedInput(file === '-' ? ['-'] : [], file === '-' ? undefined : file)
  return withCrawlTarget(Class, flags, config, async (target) => {
    const { spider } = target.crawler
    const progress = new SeedProgressLine(processScreen(), spider.name)
    const importing = new LineImport({
      input,
      target,
      names: new CallbackNames(spider, flags.callback),
      onProgress: (done, bad) => progress.update({ pushed: done, bad, read: input.read() }),
    })
    let adopted: Adopted | undefined
    try {
      await importing.run({
        isDry: flags.dryRun ?? false,
        begin: async () => {
          adopted = await target.adopt({ startEnded: flags.start === false })
        },
      })
    } finally {
      progress.stop()
    }
    return report(
      { ...countsOf(importing), problems: importing.problems },
      { from: file, target, adopted, flags },
    )
  })
}

function countsOf(counts: { moved: number; bad: number; readable: number; raced?: number; before?: number }) {
  const { moved, bad, readable, raced = 0, before = 0 } = counts
  return { moved, bad, readable, raced, before }
}

interface ReportedImport {
  readonly from: string
  readonly target: CrawlTarget
  readonly adopted: Adopted | undefined
  readonly flags: ImportFlags
}

function report(imported: Imported, { from, target, adopted, flags }: ReportedImport): number {
  const { moved, bad, raced, before, readable, problems } = imported
  for (const { place, reason } of problems) processScreen().write(`${visible(place)}: ${visible(reason)}\n`)
  if (bad > problems.length) processScreen().write(`and ${grouped(bad - problems.length)} more\n`)
  const code = bad > 0 || raced > 0 || readable === 0 ? EXIT.unexpected : EXIT.finished
  if (flags.json) {
    const { crawler, shown } = target
    const told = { spider: crawler.spider.name, from, to: shown, dryRun: flags.dryRun ?? false }
    console.log(
      visibleJson(JSON.stringify({ ...told, moved, before, readable, stayed: bad, raced, problems })),
    )
    return code
  }
  if (readable === 0 && bad === 0) {
    console.log(`${visible(from)} is empty: there is no request in it to take over`)
    return code
  }
  console.log(
    flags.dryRun
      ? `${requests(readable)} of ${visible(from)} can be taken over; nothing was moved`
      : `took ${requests(moved)} over from ${visible(from)} to ${visible(target.shown)}`,
  )
  if (before > 0)
    console.log(
      `${requests(before)} of it had been taken over before, and ${before === 1 ? 'is' : 'are'} not queued again`,
    )
  if (bad > 0) console.log(`${requests(bad)} cannot be taken over and ${bad === 1 ? 'stays' : 'stay'} there`)
  if (raced > 0)
    console.log(
      `${requests(raced)} were also taken by another program meanwhile and will be fetched twice: is a Python worker still running?`,
    )
  if (moved > 0) tellHowToGoOn(target, adopted, flags)
  return code
}

function tellHowToGoOn(
  { goesOnBy }: CrawlTarget,
  adopted: Adopted | undefined,
  { start }: ImportFlags,
): void {
  if (adopted === 'running') console.log('workers that are present go on with them')
  else
    console.log(
      `${goesOnBy}  goes on with them${adopted === 'new' && start !== false ? ', after start(), which this crawl has not run yet (import with --no-start keeps it from running)' : ''}`,
    )
}

function reportNothing(from: string, { json }: ImportFlags): number {
  if (json)
    console.log(
      visibleJson(JSON.stringify({ from, moved: 0, readable: 0, stayed: 0, raced: 0, problems: [] })),
    )
  else console.log(`nothing waits in ${visible(from)} (SCHEDULER_QUEUE_KEY names the key)`)
  return EXIT.finished
}

function requests(count: number): string {
  return `${grouped(count)} request${count === 1 ? '' : 's'}`
}
