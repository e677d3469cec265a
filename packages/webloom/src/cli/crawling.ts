/** Commands that run crawls, or give them start URLs. */

import type { SeedFlags } from '../commands/seed.ts'
import type { WorkerFlags } from '../commands/worker.ts'
import { configHere } from '../loading/config.ts'
import type { CrawlFlags } from '../loading/crawl-flags.ts'
import { namedSpider } from '../loading/named-spider.ts'
import { loadSpiderFile } from '../loading/spider-loader.ts'
import { command, flag, SPIDER_OPTIONS, value } from './command.ts'
import { CRAWL_OPTIONS } from './crawl-options.ts'

export const crawl = command<CrawlFlags, [name: string]>(
  'crawl <spider>',
  'run a spider of this project by its name, or one by its file',
  CRAWL_OPTIONS,
  async (flags, [name], { times }) => {
    const { Class, config } = await namedSpider(name, flags)
    const { runCrawl } = await import('../commands/run-crawl.ts')
    return runCrawl(Class, flags, config, { ...(times && { times }) })
  },
)

export const worker = command<WorkerFlags, [name: string]>(
  'worker <spider>',
  'take part in the crawl of a spider that several processes or machines share (REDIS_URL)',
  {
    processes: value('--processes <N>', 'run that many processes, and replace those that die'),
    stay: flag('--stay', 'wait for more when there is nothing left to do'),
    new: flag(
      '--new',
      'begin a new crawl where the last one is finished; what SCHEDULER_PERSIST kept as met is not fetched again',
    ),
    ...CRAWL_OPTIONS,
  },
  async (flags, [name], { times }) => {
    const { Class, config } = await namedSpider(name, flags)
    const { worker: run } = await import('../commands/worker.ts')
    return run(Class, flags, config, { ...(times && { times }) })
  },
)

export const seed = command<SeedFlags, [name: string, messages: string[]]>(
  'seed <spider> [messages...]',
  'put start URLs where a RedisSpider takes them: URLs or JSON, a file of them, or - for stdin',
  {
    file: value('--file <F>', 'a file with one message a line'),
    front: flag('--front', 'before what waits (in a list; each 1,000 messages stay in their order)'),
    score: value('--score <N>', 'in a sorted set; else that is each message’s priority, or 0'),
    ...SPIDER_OPTIONS,
    json: flag('--json', 'the summary as JSON'),
  },
  async (flags, [name, messages]) => {
    const { Class, config } = await namedSpider(name, flags)
    const { seed: run } = await import('../commands/seed.ts')
    return run(Class, messages, flags, config)
  },
)

export const runspider = command<CrawlFlags, [file: string]>(
  'runspider <file>',
  'run the spider in a file, without a project',
  CRAWL_OPTIONS,
  async (flags, [file]) => {
    const Class = await loadSpiderFile(file)
    const { runCrawl } = await import('../commands/run-crawl.ts')
    return runCrawl(Class, flags, await configHere())
  },
)
