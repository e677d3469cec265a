/** Commands that look into the filter of a spider's crawl. */

import type { DupeFilterFlags } from '../commands/dupefilter.ts'
import { namedSpider } from '../loading/named-spider.ts'
import { command, flag, group, SPIDER_OPTIONS } from './command.ts'

const OPTIONS = { ...SPIDER_OPTIONS, json: flag('--json', 'as JSON') }
const filter = () => import('../commands/dupefilter.ts')

type WithUrls = [name: string, urls: string[]]

export const dupefilter = group(
  'dupefilter',
  'inspect and change the dupefilter of a crawl',
  [
    command<DupeFilterFlags, WithUrls>(
      'has <spider> <urls...>',
      'print for each URL whether the crawl has seen it (- reads URLs from stdin)',
      OPTIONS,
      async (flags, [name, urls]) =>
        (await filter()).dupefilterHas(await namedSpider(name, flags), urls, flags),
      [
        ['webloom dupefilter has quotes https://quotes.toscrape.com/', 'has the crawl seen this page?'],
        ['webloom dupefilter has quotes - < urls.txt', 'a line for each URL of a file'],
      ],
    ),
    command<DupeFilterFlags, WithUrls>(
      'add <spider> <urls...>',
      'record URLs as seen: the crawl does not fetch them',
      OPTIONS,
      async (flags, [name, urls]) =>
        (await filter()).dupefilterAdd(await namedSpider(name, flags), urls, flags),
      [
        [
          'webloom dupefilter add quotes https://quotes.toscrape.com/login',
          'the crawl does not fetch this page',
        ],
        ['webloom dupefilter add quotes - < done.txt', 'those of a file'],
      ],
    ),
    command<DupeFilterFlags, WithUrls>(
      'rm <spider> <urls...>',
      'make URLs new again',
      OPTIONS,
      async (flags, [name, urls]) =>
        (await filter()).dupefilterRemove(await namedSpider(name, flags), urls, flags),
      [
        [
          'webloom dupefilter rm quotes https://quotes.toscrape.com/',
          'the next link to this page has it fetched again',
        ],
        ['webloom dupefilter rm quotes - < changed.txt', 'those of a file'],
      ],
    ),
    command<DupeFilterFlags, [name: string]>(
      'stats <spider>',
      'print how many requests are recorded, in how much memory, at which error',
      OPTIONS,
      async (flags, [name]) => (await filter()).dupefilterStats(await namedSpider(name, flags), flags),
      [
        ['webloom dupefilter stats quotes', 'as text'],
        ['webloom dupefilter stats quotes --json', 'for a program to read'],
      ],
    ),
  ],
  [
    ['webloom dupefilter has quotes https://quotes.toscrape.com/', 'has the crawl seen this page?'],
    ['webloom dupefilter stats quotes', 'how many requests are recorded, in how much memory, at which error'],
  ],
)
