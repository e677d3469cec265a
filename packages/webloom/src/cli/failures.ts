/** Commands about requests that were given up, and about those in quarantine, which are some of them. */

import type { OutsideFlags } from '../assembly/crawl-from-outside.ts'
import type { FailedActFlags, FailedListFlags, FailedShowFlags } from '../commands/failed.ts'
import { namedSpider } from '../loading/named-spider.ts'
import type { FilterFlags } from '../transfer/failure-filter.ts'
import { command, flag, group, type OptionsFor, SPIDER_OPTIONS, value } from './command.ts'

const JSON_TOO = { ...SPIDER_OPTIONS, json: flag('--json', 'as JSON') }
const FILTER: OptionsFor<FilterFlags> = {
  signature: value(
    '--signature <signature>',
    'only failures with this signature, or with this hash at its end',
  ),
  host: value('--host <name>', 'only failures of this host'),
  status: value('--status <code>', 'only failures whose response had this status'),
  reason: value(
    '--reason <reason>',
    'only failures of this kind: download, status, host, robots, callback, middleware or quarantined',
  ),
  since: value(
    '--since <moment>',
    'only requests given up since this moment: 2h (ago), or 2026-11-25T16:00:00Z',
  ),
  until: value('--until <moment>', 'only requests given up before this moment'),
}
const ACT = { ...JSON_TOO, ...FILTER, all: flag('--all', 'all that the other options match') }
const QUARANTINED = { reason: 'quarantined' }

const load = () => import('../commands/failed.ts')

export const failed = group(
  'failed',
  'requests that were given up: their downloads failed, their status was an error, or their callback threw',
  [
    command<FailedListFlags, [name: string]>(
      'list <spider>',
      'print failures by signature; with one of the filters below, each request that it matches',
      { ...JSON_TOO, ...FILTER, limit: value('--limit <N>', 'print at most this many (default 1000)') },
      async (flags, [name]) => {
        const [{ failedList }, { Class, config }] = [await load(), await namedSpider(name, flags)]
        await failedList(Class, flags, config)
      },
      [
        [
          'webloom failed list quotes',
          'what went wrong, how often, with the first and the last page of each',
        ],
        [
          'webloom failed list quotes --status 503 --since 2h',
          'each page that had that status in the last two hours',
        ],
        ['webloom failed list quotes --json', 'for a program to read'],
      ],
    ),
    command<FailedShowFlags, [name: string, what: string]>(
      'show <spider> <what>',
      'print all that is known of a request (by its id) or of a signature',
      { ...JSON_TOO, body: flag('--body', 'the first response of that signature, as text') },
      async (flags, [name, what]) => {
        const [{ failedShow }, { Class, config }] = [await load(), await namedSpider(name, flags)]
        await failedShow(Class, what, flags, config)
      },
      [
        ['webloom failed show quotes status-503', 'its pages, and the response of the first'],
        ['webloom failed show quotes status-503 --body', 'the body of that response'],
      ],
    ),
    command<FailedActFlags, [name: string, ids: string[]]>(
      'retry <spider> [ids...]',
      'queue failed requests again: each once, however often you run this',
      ACT,
      async (flags, [name, ids]) => {
        const [{ failedRetry }, { Class, config }] = [await load(), await namedSpider(name, flags)]
        await failedRetry(Class, ids, flags, config)
      },
      [
        ['webloom failed retry quotes --host quotes.toscrape.com', 'all of a host that works again'],
        [
          'webloom failed retry quotes --signature 5f2c9a01',
          'all that failed for one cause, once it is fixed',
        ],
        ['webloom failed retry quotes --all', 'every one'],
      ],
    ),
    command<FailedActFlags, [name: string, ids: string[]]>(
      'drop <spider> [ids...]',
      'delete failed requests from the ledger; they are not crawled',
      ACT,
      async (flags, [name, ids]) => {
        const [{ failedDrop }, { Class, config }] = [await load(), await namedSpider(name, flags)]
        await failedDrop(Class, ids, flags, config)
      },
      [
        ['webloom failed drop quotes --status 404', 'pages that do not exist'],
        ['webloom failed drop quotes --all', 'every one, with their counts'],
      ],
    ),
  ],
  [
    ['webloom failed list quotes', 'what went wrong, by signature'],
    ['webloom failed retry quotes --status 503', 'queues these pages again'],
  ],
)

export const quarantine = group(
  'quarantine',
  'requests in quarantine: they killed their workers, or every worker rejected them',
  [
    command<OutsideFlags, [name: string]>(
      'list <spider>',
      'print the requests in quarantine, with their history',
      JSON_TOO,
      async (flags, [name]) => {
        const [{ quarantineList }, { Class, config }] = [await load(), await namedSpider(name, flags)]
        await quarantineList(Class, flags, config)
      },
      [
        ['webloom quarantine list quotes', 'each with its id, its URL and what happened to it'],
        ['webloom quarantine list quotes --json', 'for a program to read'],
      ],
    ),
    command<OutsideFlags & { readonly all?: boolean }, [name: string, ids: string[]]>(
      'retry <spider> [ids...]',
      'queue requests in quarantine again',
      { ...SPIDER_OPTIONS, all: flag('--all', 'every one'), json: flag('--json', 'as JSON') },
      async (flags, [name, ids]) => {
        const [{ failedRetry }, { Class, config }] = [await load(), await namedSpider(name, flags)]
        await failedRetry(Class, ids, { ...flags, ...QUARANTINED }, config)
      },
      [
        ['webloom quarantine retry quotes 8f14e45fceea167a', 'one of them, by the id that list prints'],
        ['webloom quarantine retry quotes --all', 'every one'],
      ],
    ),
  ],
  [
    ['webloom quarantine list quotes', 'what is in quarantine, and why'],
    ['webloom quarantine retry quotes --all', 'queues all of it again'],
  ],
)
