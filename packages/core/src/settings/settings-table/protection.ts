import { TIMER_SECONDS_MAX } from '../../waiting/deadline.ts'
import type { UsedSetting } from '../setting-row.ts'

/**
 * Against a hostile web, beside DOWNLOAD_TIMEOUT, DOWNLOAD_MAXSIZE and REDIRECT_MAX_TIMES. What each bound is for and
 * what follows when it is met stands in docs/hostile-web.md.
 */
export const PROTECTION_SETTINGS = [
  {
    name: 'DOWNLOAD_MIN_RATE',
    type: 'float',
    unit: 'bytes/s',
    // Slower than any modem; a server that drips a byte now and then would hold a download until DOWNLOAD_TIMEOUT.
    default: 100,
    min: 0,
    since: 'webloom',
    summary:
      'An answer that has begun and then brings less than this over DOWNLOAD_RATE_WINDOW is cut off and retried. 0: never.',
  },
  {
    name: 'DOWNLOAD_RATE_WINDOW',
    type: 'float',
    unit: 's',
    default: 30,
    min: 0.001,
    max: TIMER_SECONDS_MAX,
    since: 'webloom',
    summary: 'How long an answer may pause, and how long its headers may take once they have begun.',
  },
  {
    name: 'DOWNLOAD_MAX_HEADER_SIZE',
    type: 'int',
    unit: 'bytes',
    // 2 ** 16; undici's own 16 KiB are met by real sites with many cookies.
    default: 65_536,
    min: 1024,
    since: 'webloom',
    summary: 'Larger headers, names and values together, end the download; it is not retried.',
  },
  {
    name: 'DOWNLOAD_MAX_HEADERS',
    type: 'int',
    unit: 'headers',
    default: 500,
    min: 1,
    since: 'webloom',
    summary: 'More headers than this end the download; it is not retried.',
  },
  {
    name: 'DOWNLOAD_MAX_INTERIM_ANSWERS',
    type: 'int',
    unit: 'answers',
    default: 20,
    min: 0,
    since: 'webloom',
    summary: 'More 1xx answers than this before the real one end the download; it is not retried.',
  },
  {
    name: 'DOWNLOAD_MAX_ENCODINGS',
    type: 'int',
    unit: 'encodings',
    default: 3,
    min: 0,
    since: 'webloom',
    summary: 'A body that is encoded more often than this (gzip of gzip of gzip of gzip) is dropped.',
  },
  {
    name: 'DOWNLOAD_MAX_RATIO',
    type: 'float',
    unit: 'times',
    // Honest pages shrink to a tenth, logs and tables to a hundredth; gzip of zeros to a thousandth.
    default: 200,
    min: 0,
    since: 'webloom',
    summary:
      'A body of more than 8 MiB that is larger than what was sent by more than this factor is dropped as a decompression bomb. 0: no limit.',
  },
  {
    name: 'DOWNLOAD_MAX_ACTIVE_SIZE',
    type: 'int',
    unit: 'bytes',
    // 2 ** 25, 32 MiB: one body of DOWNLOAD_MAXSIZE.
    default: 33_554_432,
    min: 0,
    since: 'webloom',
    summary:
      'While the bodies being received are larger than this together, all of those above 1 MiB wait, except for one. 0: no limit.',
  },
  {
    name: 'REDIRECT_MAX_URL_LENGTH',
    type: 'int',
    unit: 'characters',
    // Most servers refuse a request line longer than that.
    default: 8192,
    min: 0,
    since: 'webloom',
    summary: 'A request that is redirected to a longer URL is dropped. 0: no limit.',
  },
  {
    name: 'COOKIES_PER_RESPONSE_MAX',
    type: 'int',
    unit: 'cookies',
    default: 100,
    min: 0,
    since: 'webloom',
    summary: 'The most cookies of one answer that are kept; further ones are ignored.',
  },
  {
    name: 'PAGE_MAX_NODES',
    type: 'int',
    unit: 'nodes',
    // About 400 bytes each: 60 MB.
    default: 150_000,
    min: 0,
    since: 'webloom',
    summary:
      'Elements, texts and attributes of a page that go into its tree; queries do not find later ones. 0: no limit.',
  },
  {
    name: 'PAGE_MAX_LINKS',
    type: 'int',
    unit: 'links',
    default: 50_000,
    min: 0,
    since: 'webloom',
    summary: '`linkUrls()` and `followAll()` take the first links of a page, up to this many. 0: no limit.',
  },
] as const satisfies readonly UsedSetting[]
