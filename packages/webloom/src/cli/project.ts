/** Commands that tell of the project, and of what its crawls will take. */

import type { BenchFlags } from '../commands/bench.ts'
import type { ListFlags } from '../commands/list.ts'
import type { PlanFlags } from '../commands/plan.ts'
import type { SettingsFlags } from '../commands/settings.ts'
import { configHere, projectConfig } from '../loading/config.ts'
import { givenSettings } from '../loading/crawl-flags.ts'
import { command, flag, requiredValue, SPIDER_OPTIONS, value, values } from './command.ts'

export const list = command<ListFlags, []>(
  'list',
  'print the names of this project’s spiders',
  { set: SPIDER_OPTIONS.set, json: flag('--json', 'as JSON, with their files') },
  async (flags) => {
    const { list: run } = await import('../commands/list.ts')
    const given = givenSettings(flags)
    await run(await projectConfig(process.cwd(), given), flags, given)
  },
  [
    ['webloom list', 'one name a line'],
    ['webloom list --json', 'with the file of each'],
  ],
)

export const settings = command<SettingsFlags, [name: string | undefined]>(
  'settings [NAME]',
  'print the settings of this folder, or what one of them does',
  {
    get: value('--get <NAME>', 'the value of one'),
    explain: value('--explain <NAME>', 'the value of one, and every place that sets it'),
    set: values('-s, --set <NAME=VALUE...>', 'as if you gave it to webloom crawl'),
    json: flag('--json', 'as JSON'),
  },
  async (flags, [name]) => {
    const { showSettings } = await import('../commands/settings.ts')
    showSettings(name === undefined ? flags : { ...flags, explain: name }, await configHere())
  },
  [
    ['webloom settings DOWNLOAD_DELAY', 'its value, what it does, and every place that sets it'],
    ['webloom settings --get CONCURRENT_REQUESTS', 'its value alone'],
    ['webloom settings -s DOWNLOAD_DELAY=1', 'all settings as a crawl with this flag has them'],
  ],
)

export const plan = command<PlanFlags, []>(
  'plan',
  'print the memory, error and lost pages of each dupefilter for a number of URLs',
  {
    urls: requiredValue('--urls <N>', 'the number of different URLs that the crawl will meet, e.g. 1e9'),
    error: value('--error <P>', 'the error rate to plan for (default 1e-6)'),
    bit: value('--bit <B>', 'BLOOMFILTER_BIT to compare with (default 30)'),
    hashNumber: value('--hash-number <K>', 'BLOOMFILTER_HASH_NUMBER to compare with (default 6)'),
    blocks: value('--blocks <N>', 'BLOOMFILTER_BLOCK_NUM to compare with'),
    hosts: value('--hosts <N>', 'the number of hosts of these URLs (default: a thousand URLs each)'),
    json: flag('--json', 'as JSON'),
  },
  async (flags) => (await import('../commands/plan.ts')).plan(flags),
  [
    ['webloom plan --urls 1e9', 'memory, error and pages lost of each dupefilter for 10 ** 9 URLs'],
    ['webloom plan --urls 1e8 --error 1e-4', 'for an error of one new link in ten thousand'],
    ['webloom plan --urls 1e8 --bit 30 --hash-number 6', 'compares with a Bloom filter of scrapy-redis'],
  ],
)

export const bench = command<BenchFlags, []>(
  'bench',
  'measure how fast pages are crawled here; with REDIS_URL, on Redis too',
  {
    pages: value('--pages <N>', 'pages of the site that is crawled', '5000'),
    rounds: value('--rounds <N>', 'measure each this many times, and show the median', '3'),
    json: flag('--json', 'as JSON'),
  },
  async (flags) => (await import('../commands/bench.ts')).bench(flags),
  [
    ['webloom bench', 'pages a second of one process on this machine'],
    ['REDIS_URL=redis://127.0.0.1:6379 webloom bench --pages 2000 --rounds 1', 'on Redis, too, in less time'],
  ],
)

export const version = command<{ readonly verbose?: boolean; readonly json?: boolean }, []>(
  'version',
  'print the version',
  {
    verbose: flag('-v, --verbose', 'also print those of Node and the main libraries'),
    json: flag('--json', 'as JSON'),
  },
  async (flags) => (await import('../commands/version.ts')).showVersion(flags),
  [
    ['webloom version', 'the version alone'],
    ['webloom version -v', 'for a bug report'],
  ],
)
