/** Commands that look into the filter of a spider's crawl. */

import type { DupeFilterFlags } from '../commands/dupefilter.ts'
import { namedSpider } from '../loading/named-spider.ts'
import { command, flag, group, SPIDER_OPTIONS } from './command.ts'

const OPTIONS = { ...SPIDER_OPTIONS, json: flag('--json', 'as JSON') }
const filter = () => import('../commands/dupefilter.ts')

type WithUrls = [name: string, urls: string[]]

export const dupefilter = group('dupefilter', 'look into the filter of a spider’s crawl', [
  command<DupeFilterFlags, WithUrls>(
    'has <spider> <urls...>',
    'print for each URL whether it was met (- reads them from stdin)',
    OPTIONS,
    async (flags, [name, urls]) =>
      (await filter()).dupefilterHas(await namedSpider(name, flags), urls, flags),
  ),
  command<DupeFilterFlags, WithUrls>(
    'add <spider> <urls...>',
    'record URLs as met: the crawl passes them over',
    OPTIONS,
    async (flags, [name, urls]) =>
      (await filter()).dupefilterAdd(await namedSpider(name, flags), urls, flags),
  ),
  command<DupeFilterFlags, WithUrls>(
    'rm <spider> <urls...>',
    'make URLs new again',
    OPTIONS,
    async (flags, [name, urls]) =>
      (await filter()).dupefilterRemove(await namedSpider(name, flags), urls, flags),
  ),
  command<DupeFilterFlags, [name: string]>(
    'stats <spider>',
    'print how much is recorded, and how well it fits',
    OPTIONS,
    async (flags, [name]) => (await filter()).dupefilterStats(await namedSpider(name, flags), flags),
  ),
])
