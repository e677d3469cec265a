import type { UsedSetting } from '../setting-row.ts'

/** Whether and when pages are visited again. */
export const RECRAWL_SETTINGS = [
  {
    name: 'RECRAWL',
    type: 'enum',
    choices: ['off', 'fixed', 'adaptive'],
    default: 'off',
    since: 'webloom',
    summary:
      'Whether the crawl comes back to its pages: `fixed`, to each after RECRAWL_INTERVAL; `adaptive`, to each as often as it pays, by what earlier visits have shown. The next run needs a JOBDIR or Redis. A worker with another RECRAWL than those at work is refused.',
  },
  {
    name: 'RECRAWL_INTERVAL',
    type: 'float',
    unit: 'hours',
    default: 24,
    min: 0.0002,
    since: 'webloom',
    summary:
      'Hours until a page is visited again (RECRAWL=fixed), or their mean over all pages (RECRAWL=adaptive). A page that is known comes to it with its next visit.',
  },
  {
    name: 'RECRAWL_INTERVAL_MIN',
    type: 'float',
    unit: 'hours',
    default: 1,
    min: 0.0002,
    since: 'webloom',
    summary: 'With RECRAWL=adaptive no page is visited sooner. A shorter RECRAWL_INTERVAL shortens it.',
  },
  {
    name: 'RECRAWL_INTERVAL_MAX',
    type: 'float',
    unit: 'hours',
    default: 1440,
    min: 0.0002,
    since: 'webloom',
    summary:
      'The longest time until a page is visited again: one that hardly changes (RECRAWL=adaptive), or that is gone; one that fails waits for a week at the most, and with RECRAWL=fixed for RECRAWL_INTERVAL. A longer RECRAWL_INTERVAL lengthens it.',
  },
  {
    name: 'RECRAWL_UNCHANGED_ITEMS',
    type: 'bool',
    default: false,
    since: 'webloom',
    summary:
      'Writes the items of pages that have not changed again. Pages are then fetched whole: hosts are not asked whether a page has changed.',
  },
] as const satisfies readonly UsedSetting[]
