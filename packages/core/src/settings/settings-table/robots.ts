import { TIMER_SECONDS_MAX } from '../../waiting/deadline.ts'
import type { UsedSetting } from '../setting-row.ts'

/** What sites allow, as their robots.txt say. */
export const ROBOTS_SETTINGS = [
  {
    name: 'ROBOTSTXT_OBEY',
    type: 'bool',
    default: true,
    since: 'scrapy',
    summary: 'Fetches only what a site’s robots.txt allows (Scrapy: off, but on in each new project).',
  },
  {
    name: 'ROBOTSTXT_USER_AGENT',
    type: 'string',
    nullable: true,
    default: null,
    since: 'scrapy',
    summary: 'Name by which rules are chosen. null: the product names in each request’s User-Agent.',
  },
  {
    name: 'ROBOTSTXT_TIMEOUT',
    type: 'float',
    unit: 's',
    default: 30,
    min: 0.001,
    max: TIMER_SECONDS_MAX,
    since: 'webloom',
    summary:
      'Longest time to get a robots.txt, redirects included. DOWNLOAD_TIMEOUT counts when it is shorter.',
  },
  {
    name: 'ROBOTSTXT_MAXSIZE',
    type: 'int',
    unit: 'bytes',
    // 2 ** 22, 4 MiB: eight times what is read of it.
    default: 4_194_304,
    min: 1,
    since: 'webloom',
    summary: 'The most bytes that are fetched of a robots.txt. Its first 500 KiB are read.',
  },
  {
    name: 'ROBOTSTXT_CACHE_TTL',
    type: 'float',
    unit: 's',
    default: 86_400,
    min: 0.001,
    max: 31_536_000,
    since: 'webloom',
    summary:
      'How long a site’s robots.txt is remembered, or that the site has none. RFC 9309 asks for a day at most.',
  },
  {
    name: 'ROBOTSTXT_CACHE_MAXSIZE',
    type: 'int',
    unit: 'bytes',
    // 2 ** 25, 32 MiB: 629 145 sites, 8 MiB of different files, as much for parsed ones, and 4 MiB for sites in trouble.
    default: 33_554_432,
    // 2 ** 16: 1228 sites.
    min: 65_536,
    since: 'webloom',
    summary:
      'How much memory a worker takes to remember robots.txt: 20 bytes a site, and each different file once. When it is used up, the oldest are forgotten. What all workers share on Redis takes at most twice as much.',
  },
  {
    name: 'ROBOTSTXT_RETRY_DELAY',
    type: 'float',
    unit: 's',
    default: 2,
    min: 0.001,
    max: TIMER_SECONDS_MAX,
    since: 'webloom',
    summary:
      'A site whose robots.txt fails (5xx, 429, no answer) is asked again after this time, then twice as long, up to 60 s. Its requests wait.',
  },
  {
    name: 'ROBOTSTXT_GIVE_UP_AFTER',
    type: 'float',
    unit: 's',
    default: 300,
    min: 0,
    max: 31_536_000,
    since: 'webloom',
    summary: 'How long requests wait for a robots.txt that fails.',
  },
  {
    name: 'ROBOTSTXT_WHEN_GIVEN_UP',
    type: 'enum',
    choices: ['forbid', 'allow'],
    default: 'forbid',
    since: 'webloom',
    summary:
      'What becomes of requests whose robots.txt could not be fetched in time: `forbid` drops them, `allow` fetches them. RFC 9309 permits `allow` after about 30 days.',
  },
  {
    name: 'ROBOTSTXT_ERROR_TTL',
    type: 'float',
    unit: 's',
    default: 3600,
    min: 0.001,
    max: 31_536_000,
    since: 'webloom',
    summary: 'After this time a site that was given up is asked for its robots.txt again.',
  },
  {
    name: 'CRAWL_DELAY',
    type: 'enum',
    choices: ['obey', 'cap', 'ignore'],
    default: 'obey',
    since: 'webloom',
    summary:
      'Whether the Crawl-delay of a robots.txt is the least delay of its host. `obey`: yes, up to a day. `cap`: yes, up to CRAWL_DELAY_MAX. `ignore`: no.',
  },
  {
    name: 'CRAWL_DELAY_MAX',
    type: 'float',
    unit: 's',
    default: 30,
    min: 0,
    max: 86_400,
    since: 'webloom',
    summary: 'The longest Crawl-delay that is obeyed with CRAWL_DELAY=cap.',
  },
] as const satisfies readonly UsedSetting[]
