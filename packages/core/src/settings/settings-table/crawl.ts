import { TIMER_SECONDS_MAX } from '../../waiting/deadline.ts'
import type { UsedSetting } from '../setting-row.ts'

/** What is followed, what reads it, and when the crawl ends. */
export const CRAWL_SETTINGS = [
  {
    name: 'SPIDER_LOADER_CLASS',
    type: 'component',
    choices: ['project'],
    synonyms: { 'scrapy.spiderloader.SpiderLoader': 'project' },
    default: 'project',
    since: 'scrapy',
    summary:
      'Finds spiders by name: `project` looks in the folders that webloom.config.ts names; or `./file.ts#Export`.',
  },
  {
    name: 'DEPTH_LIMIT',
    type: 'int',
    unit: 'links',
    default: 0,
    min: 0,
    since: 'scrapy',
    summary: 'The most links between a start page and a page; deeper requests are dropped. 0: no limit.',
  },
  {
    name: 'DEPTH_PRIORITY',
    type: 'int',
    default: 0,
    since: 'scrapy',
    summary:
      'The depth times this number is subtracted from the priority: above 0 shallow pages go first, below 0 deep ones.',
  },
  {
    name: 'DEPTH_STATS_VERBOSE',
    type: 'bool',
    default: false,
    since: 'scrapy',
    summary: 'Also counts the requests of each depth, as `request_depth_count/<depth>`.',
  },
  {
    name: 'URLLENGTH_LIMIT',
    type: 'int',
    unit: 'characters',
    default: 2083,
    min: 0,
    since: 'scrapy',
    summary:
      'Requests with a longer URL are dropped: links, start URLs, seeds, requests of `crawler.fetch` and of files. 0: no limit.',
  },
  {
    name: 'CRAWLSPIDER_FOLLOW_LINKS',
    type: 'bool',
    default: true,
    since: 'scrapy',
    summary: 'Lets the rules of a CrawlSpider make requests. false: it fetches only its start pages.',
  },
  {
    name: 'HTTPERROR_ALLOWED_CODES',
    type: 'list',
    of: 'int',
    default: [],
    min: 100,
    max: 999,
    since: 'scrapy',
    summary: 'Statuses outside 200–299 that are given to the callback all the same.',
  },
  {
    name: 'HTTPERROR_ALLOW_ALL',
    type: 'bool',
    default: false,
    since: 'scrapy',
    summary: 'Gives responses with any status to the callback.',
  },
  {
    name: 'HTML_PARSER',
    type: 'enum',
    choices: ['htmlparser2', 'parse5'],
    default: 'htmlparser2',
    since: 'webloom',
    summary:
      'Builds the tree for selectors: htmlparser2 is several times faster, parse5 repairs broken HTML as browsers do.',
  },
  {
    name: 'SPIDER_MIDDLEWARES',
    type: 'components',
    default: [],
    since: 'scrapy',
    summary: 'Spider middlewares beside the built-in ones: `[["./mine.ts#Mine", 550]]`; null disables one.',
  },
  {
    name: 'EXTENSIONS',
    type: 'components',
    default: [],
    since: 'scrapy',
    summary: 'Extensions beside the built-in ones: `[["./mine.ts#Mine", 500]]`; null disables one.',
  },
  {
    name: 'BUDGETS',
    type: 'dict',
    default: {},
    since: 'webloom',
    summary:
      'What a crawl may spend, exactly, by all its workers together: `pages`, `bytes` and `minutes` of a run (`crawl`), of a day (`day`), of each host in a run (`host`) and in a day (`hostDay`), and what happens `after` that: `stop`, `wait` (until the next day) or `drop`; `tz` says whose days: `{"day": {"pages": 10000}, "host": {"pages": 500}, "tz": "Europe/Berlin"}`.',
  },
  {
    name: 'CLOSESPIDER_ERRORCOUNT',
    type: 'int',
    unit: 'errors',
    default: 0,
    min: 0,
    since: 'scrapy',
    summary:
      'Ends the crawl, for all its workers, when callbacks of all of them have thrown this many times. 0: never.',
  },
  {
    name: 'CLOSESPIDER_ITEMCOUNT',
    type: 'int',
    unit: 'items',
    default: 0,
    min: 0,
    since: 'scrapy',
    summary: 'Ends the crawl, for all its workers, after this many scraped items of all of them. 0: never.',
  },
  {
    name: 'CLOSESPIDER_PAGECOUNT',
    type: 'int',
    unit: 'pages',
    default: 0,
    min: 0,
    since: 'scrapy',
    summary:
      'Ends the crawl, for all its workers, after this many responses to all of them; what is in flight is finished, and others are heard once a second, so there are more. 0: never.',
  },
  {
    name: 'CLOSESPIDER_PAGECOUNT_NO_ITEM',
    type: 'int',
    unit: 'pages',
    default: 0,
    min: 0,
    since: 'scrapy',
    summary:
      'Ends the crawl, for all its workers, after this many responses in a row to one of them without an item. 0: never.',
  },
  {
    name: 'CLOSESPIDER_TIMEOUT',
    type: 'float',
    unit: 's',
    default: 0,
    min: 0,
    max: TIMER_SECONDS_MAX,
    since: 'scrapy',
    summary: 'Ends the crawl, for all its workers, so long after the first of them began. 0: never.',
  },
  {
    name: 'CLOSESPIDER_TIMEOUT_NO_ITEM',
    type: 'float',
    unit: 's',
    default: 0,
    min: 0,
    max: TIMER_SECONDS_MAX,
    since: 'scrapy',
    summary:
      'Ends the crawl, for all its workers, when no item has come from any of them for this long. 0: never.',
  },
  {
    name: 'FAIL_ON_EMPTY',
    type: 'bool',
    default: false,
    since: 'webloom',
    summary:
      'A crawl ends with exit code 1 instead of only a warning if it finishes without any item or link, without an item for its outputs, or with none of its items written. On Redis the last worker to leave judges for all workers, unless a worker was killed: then it is not known what that one had done. A crawl that was resumed in its JOBDIR is not judged, because the items of its earlier runs are not counted there.',
  },
  {
    name: 'COMPONENT_TIMEOUT',
    type: 'float',
    unit: 's',
    default: 600,
    min: 1,
    max: TIMER_SECONDS_MAX,
    since: 'webloom',
    summary:
      'How long each pipeline, feed or extension may take to open or to close. An output that is not complete by then has failed (WL_OUTPUT_FAILED), and its items stay in their spool.',
  },
  {
    name: 'SHUTDOWN_GRACE',
    type: 'float',
    unit: 's',
    default: 30,
    min: 0,
    max: TIMER_SECONDS_MAX,
    since: 'webloom',
    summary: 'How long requests in flight may take to finish after the first signal.',
  },
] as const satisfies readonly UsedSetting[]
