/** Commands that run crawls, or give them start URLs. */

import { UsageError } from '@webloom/core'
import type { RunMode } from '../commands/run-crawl.ts'
import type { SeedFlags } from '../commands/seed.ts'
import type { WorkerFlags } from '../commands/worker.ts'
import { configHere } from '../loading/config.ts'
import type { CrawlFlags } from '../loading/crawl-flags.ts'
import { namedSpider } from '../loading/named-spider.ts'
import { loadSpiderFile } from '../loading/spider-loader.ts'
import { trialOf, tried } from '../processes/trial-process.ts'
import { withSecretFlags } from '../schedules/flag-words.ts'
import { command, flag, SPIDER_OPTIONS, value } from './command.ts'
import { CRAWL_OPTIONS } from './spider-options.ts'

const STAY = flag('--stay', 'wait for more when there is nothing left to do')
const ALONE_OPTIONS = {
  ...CRAWL_OPTIONS,
  stay: STAY,
  dash: flag('--dash', 'show the crawl in a browser while it runs (needs @webloom/dashboard)'),
  control: flag('--control', 'with --dash: let the browser steer the crawl, too: pause, stop, retry …'),
}

type AloneFlags = CrawlFlags & {
  readonly stay?: boolean
  readonly dash?: boolean
  readonly control?: boolean
}

/** @throws UsageError for --control without --dash */
function aloneMode({ stay, dash, control }: AloneFlags): Pick<RunMode, 'stays' | 'dash' | 'control'> {
  if (control && !dash)
    throw new UsageError(
      'WL_USAGE',
      '--control is for the dashboard of the crawl. Type both:  webloom crawl <spider> --dash --control',
    )
  return { ...(stay && { stays: true }), dash, control }
}

export const crawl = command<AloneFlags, [name: string]>(
  'crawl <spider>',
  'run a spider: one of this project by its name, or any by its file',
  ALONE_OPTIONS,
  async (flags, [name], { times }) => {
    const { Class, config } = await namedSpider(name, flags)
    const { runCrawl } = await import('../commands/run-crawl.ts')
    return runCrawl(Class, flags, config, { ...aloneMode(flags), ...(times && { times }) })
  },
  [
    ['webloom crawl quotes', 'runs the spider of that name; items are only counted'],
    [
      'webloom crawl quotes -O quotes.jsonl -a tag=love',
      'writes the items to a file, and gives the spider an argument',
    ],
    ['webloom crawl quotes -s JOBDIR=job -o quotes.jsonl', 'can be stopped; the same line resumes it'],
    ['webloom crawl quotes -s CLOSESPIDER_PAGECOUNT=10 -L DEBUG', 'fetches ten pages and logs each of them'],
  ],
)

export const worker = command<WorkerFlags, [name: string | undefined]>(
  'worker [spider]',
  'take part in the crawl of a spider that several processes or machines share (REDIS_URL)',
  {
    processes: value('--processes <N>', 'run this many processes, and replace those that die'),
    all: flag(
      '--all',
      'serve every spider of the project, with fair shares between crawls, and begin runs when they are due (webloom schedule)',
    ),
    stay: STAY,
    new: flag(
      '--new',
      'begin a new crawl if the last one has finished; pages that SCHEDULER_PERSIST kept as seen are not fetched again',
    ),
    ...CRAWL_OPTIONS,
  },
  async (typed, [name], { times }) => {
    const flags = withSecretFlags(typed)
    if (flags.all && name === undefined) return (await import('../commands/worker-all.ts')).workerAll(flags)
    if (flags.all || name === undefined)
      throw new UsageError(
        'WL_USAGE',
        `${name === undefined ? 'a worker is for the crawl of one spider, or for all' : `--all is for all spiders, and ${name} is one`}. Write:  webloom worker ${name ?? '<spider>'}  or  webloom worker --all`,
      )
    const parent = trialOf()
    if (parent !== undefined)
      return tried(parent, async () => {
        const { Class, config } = await namedSpider(name, flags)
        const { tryWorkerOf } = await import('../schedules/try-worker.ts')
        await tryWorkerOf(Class, flags, config)
      })
    const { Class, config } = await namedSpider(name, flags)
    const { worker: run } = await import('../commands/worker.ts')
    return run(Class, flags, config, { ...(times && { times }) })
  },
  [
    [
      'REDIS_URL=redis://127.0.0.1:6379 webloom worker quotes --processes 4',
      'four processes of one crawl; the same line on another machine joins it',
    ],
    ['webloom worker quotes --stay', 'waits for more when there is nothing left to do'],
    ['webloom worker quotes --new', 'begins a new crawl after the last one has finished'],
    ['webloom worker --all', 'serves all spiders of the project, and begins runs when they are due'],
  ],
)

export const seed = command<SeedFlags, [name: string, messages: string[]]>(
  'seed <spider> [messages...]',
  'push start URLs for a RedisSpider: URLs or JSON, a file of them, or - for stdin',
  {
    file: value('--file <F>', 'a file with one message a line'),
    front: flag(
      '--front',
      'push before the messages that wait (only in a list; each 1,000 messages stay in their order)',
    ),
    score: value('--score <N>', 'the score in a sorted set (default: each message’s priority, or 0)'),
    ...SPIDER_OPTIONS,
    json: flag('--json', 'the summary as JSON'),
  },
  async (flags, [name, messages]) => {
    const { Class, config } = await namedSpider(name, flags)
    const { seed: run } = await import('../commands/seed.ts')
    return run(Class, messages, flags, config)
  },
  [
    ['webloom seed quotes https://quotes.toscrape.com/', 'pushes one start URL'],
    ['webloom seed quotes urls.txt', 'pushes one start URL for each line of a file'],
    [
      'cat urls.txt | webloom seed quotes - --front',
      'reads them from standard input, and pushes them before those that wait',
    ],
  ],
)

export const runspider = command<AloneFlags, [file: string]>(
  'runspider <file>',
  'run the spider in a file, without a project',
  ALONE_OPTIONS,
  async (flags, [file]) => {
    const Class = await loadSpiderFile(file)
    const { runCrawl } = await import('../commands/run-crawl.ts')
    return runCrawl(Class, flags, await configHere(), aloneMode(flags))
  },
  [
    [
      'webloom runspider spider.ts -O quotes.jsonl',
      'runs the spider in that file, and replaces the items of an earlier run',
    ],
    ['webloom runspider spider.ts -o -:jsonl --nolog | head', 'writes items to standard output'],
    ['webloom runspider spider.ts -s DOWNLOAD_DELAY=1', 'sends each host one request a second'],
  ],
)
