/** Commands that take over what waits from elsewhere, and hand it on. */

import type { ExportFlags } from '../commands/export.ts'
import type { ImportFlags } from '../commands/import.ts'
import { namedSpider } from '../loading/named-spider.ts'
import { command, flag, SPIDER_OPTIONS, value, values } from './command.ts'

const OPTIONS = { ...SPIDER_OPTIONS, json: flag('--json', 'the summary as JSON') }

export const importFrom = command<ImportFlags, [from: string, name: string]>(
  'import <from> <spider>',
  'queue the requests of a Python crawl (import scrapy-redis quotes), or of a file that webloom export wrote (- for stdin)',
  {
    ...OPTIONS,
    callback: values('--callback <there=here>', 'the name here of one of their callbacks'),
    start: flag('--no-start', 'do not run start() when the crawl goes on'),
    dryRun: flag('--dry-run', 'look at everything and move nothing'),
  },
  async (flags, [from, name]) => {
    const { importLines, importScrapyRedis } = await import('../commands/import.ts')
    const { Class, config } = await namedSpider(name, flags)
    return from === 'scrapy-redis'
      ? importScrapyRedis(Class, flags, config)
      : importLines(Class, from, flags, config)
  },
  [
    ['webloom import scrapy-redis quotes --dry-run', 'shows what a Python crawl has left, and moves nothing'],
    ['webloom import scrapy-redis quotes --callback parse_author=parseAuthor', 'takes these requests over'],
    ['webloom import left.jsonl quotes', 'queues what export wrote'],
  ],
)

export const exportTo = command<ExportFlags, [name: string]>(
  'export <spider>',
  'write the requests that a paused or stopped crawl still has to fetch, one JSON line each',
  {
    ...OPTIONS,
    seeds: flag('--seeds', 'write start URLs, as scrapy-redis and webloom seed take them'),
    to: value('--to <where>', 'scrapy-redis: write into the queue of a Python crawl'),
    callback: values('--callback <here=there>', 'the name there of a callback'),
    output: value('-o, --output <file>', 'write to this file instead of stdout'),
  },
  async (flags, [name]) => {
    const { exportCrawl } = await import('../commands/export.ts')
    const { Class, config } = await namedSpider(name, flags)
    return exportCrawl(Class, flags, config)
  },
  [
    ['webloom export quotes -o left.jsonl', 'what a stopped crawl still has to fetch'],
    ['webloom export quotes --seeds', 'as start URLs for another crawl'],
    [
      'webloom export quotes --to scrapy-redis --callback parseAuthor=parse_author',
      'into the queue of a Python crawl',
    ],
  ],
)
