import type { UsedSetting } from '../setting-row.ts'

/** How much at once and how fast. */
export const PACE_SETTINGS = [
  {
    name: 'CONCURRENT_REQUESTS',
    type: 'int',
    unit: 'requests',
    default: 16,
    min: 1,
    since: 'scrapy',
    summary: 'Requests in flight at once, all hosts together. There is no unlimited: 0 is refused.',
  },
  {
    name: 'CONCURRENT_REQUESTS_PER_DOMAIN',
    type: 'int',
    unit: 'requests',
    default: 8,
    min: 1,
    since: 'scrapy',
    summary: 'Requests in flight at once at one host (or one `download_slot`).',
  },
  {
    name: 'DOWNLOAD_DELAY',
    type: 'float',
    unit: 's',
    default: 0,
    min: 0,
    max: 2_147_483,
    since: 'scrapy',
    summary: 'Least time between the starts of two requests to one host.',
  },
  {
    name: 'RANDOMIZE_DOWNLOAD_DELAY',
    type: 'bool',
    default: true,
    since: 'scrapy',
    summary: 'Waits between 0.5 and 1.5 times DOWNLOAD_DELAY instead of exactly that.',
  },
  {
    name: 'DOWNLOAD_SLOTS',
    type: 'dict',
    default: {},
    since: 'scrapy',
    summary:
      'Pace of single hosts: `{"example.com": {"concurrency": 1, "delay": 2, "randomize_delay": false}}`.',
  },
  {
    name: 'CONCURRENT_ITEMS',
    type: 'int',
    unit: 'items',
    default: 100,
    min: 1,
    since: 'scrapy',
    summary:
      'Items that are in the item pipelines at once, of all responses together. (In Scrapy: of one response.)',
  },
  {
    name: 'SCRAPER_SLOT_MAX_ACTIVE_SIZE',
    type: 'int',
    unit: 'bytes',
    default: 5_000_000,
    min: 1,
    since: 'scrapy',
    summary: 'While more bytes of responses than this are being worked on, nothing new is fetched.',
  },
  {
    name: 'CALLBACK_OUTPUT_MAX',
    type: 'int',
    unit: 'items or requests',
    default: 10_000,
    min: 1,
    since: 'webloom',
    summary:
      'What one callback yields is kept until it ends; past this many it is handed on in steps of as many.',
  },
  {
    name: 'START_LOW_WATER',
    type: 'int',
    unit: 'requests',
    default: 1000,
    min: 1,
    since: 'webloom',
    summary: '`start()` is asked for more while fewer requests than this are waiting.',
  },
] as const satisfies readonly UsedSetting[]
