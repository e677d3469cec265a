/** Commands about the visits of a crawl that comes back to its pages (RECRAWL). */

import type { OutsideFlags } from '../assembly/crawl-from-outside.ts'
import type { RefreshFlags, VisitListFlags, VisitsFlags } from '../commands/visits.ts'
import { namedSpider } from '../loading/named-spider.ts'
import { command, flag, group, SPIDER_OPTIONS, value } from './command.ts'

const OPTIONS = { ...SPIDER_OPTIONS, json: flag('--json', 'as JSON') }
const MATCH = {
  match: value('--match <text>', 'only URLs that contain it, or match /it/ as a regular expression'),
}
const LIMIT = {
  limit: value(
    '--limit <N>',
    'how many are printed at the most (default: 100); all that wait are read for it, to count them',
  ),
}
const act = () => import('../commands/visits.ts')

export const visits = group(
  'visits',
  'print and change when the pages of a crawl are visited again',
  [
    command<OutsideFlags, [name: string, urls: string[]]>(
      'show <spider> <urls...>',
      'print when pages were visited, how often they had changed, and when they are due (- reads URLs from stdin)',
      OPTIONS,
      async (flags, [name, urls]) => (await act()).visitsShow(await namedSpider(name, flags), urls, flags),
      [
        ['webloom visits show quotes https://quotes.toscrape.com/', 'when is this page visited again?'],
        ['cat urls.txt | webloom visits show quotes -', 'and when are these?'],
      ],
    ),
    command<VisitListFlags, [name: string]>(
      'list <spider>',
      'print the pages that wait for their hours, the next ones first',
      { ...OPTIONS, ...MATCH, ...LIMIT },
      async (flags, [name]) => (await act()).visitsList(await namedSpider(name, flags), flags),
      [
        ['webloom visits list quotes --match author/', 'those of authors'],
        ['webloom visits list quotes --limit 10 --json', 'for a program to read'],
      ],
    ),
    command<VisitListFlags, [name: string]>(
      'due <spider>',
      'print the pages that are due, or so soon that a run visits them all the same; a run also visits pages of start() that were not visited for RECRAWL_INTERVAL',
      { ...OPTIONS, ...MATCH, ...LIMIT },
      async (flags, [name]) => (await act()).visitsDue(await namedSpider(name, flags), flags),
      [
        ['webloom visits due quotes', 'what is due?'],
        ['webloom visits due quotes --limit 10 --json', 'for a program to read'],
      ],
    ),
    command<VisitsFlags, [name: string, urls: string[]]>(
      'forget <spider> [urls...]',
      'forget visits: the pages are not visited again by themselves',
      { ...OPTIONS, ...MATCH },
      async (flags, [name, urls]) => (await act()).visitsForget(await namedSpider(name, flags), urls, flags),
      [
        ['webloom visits forget quotes https://quotes.toscrape.com/login', 'this page'],
        ['webloom visits forget quotes --match tag/', 'all pages of tags'],
      ],
    ),
  ],
  [
    ['webloom visits due quotes', 'what is due?'],
    ['webloom visits show quotes https://quotes.toscrape.com/', 'when is this page visited again?'],
  ],
)

export const refresh = command<RefreshFlags, [name: string]>(
  'refresh <spider>',
  'make pages due now, so that the crawl visits them when it runs',
  {
    ...OPTIONS,
    older: value('--older <time span>', 'only pages that were visited longer ago: 90m, 12h, 7d, 2w'),
    ...MATCH,
  },
  async (flags, [name]) => (await act()).refresh(await namedSpider(name, flags), flags),
  [
    ['webloom refresh quotes --older 7d', 'all pages that were not visited for a week'],
    ['webloom refresh quotes --match author/', 'all pages of authors'],
  ],
)
