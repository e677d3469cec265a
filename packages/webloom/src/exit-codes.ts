import { type ErrorCode, WebloomError } from '@webloom/core'

/** What the process ends with; `docs/errors.md` lists them. */
export const EXIT = {
  finished: 0,
  unexpected: 1,
  usage: 2,
  redisUnreachable: 3,
  /** The crawl did what it was asked to, and its monitors found something wrong with what it brought. */
  alerts: 4,
  interrupted: 130,
  terminated: 143,
} as const

/** Mistakes that are found before anything is fetched and that running again will not cure. */
const USAGE_CODES: readonly ErrorCode[] = [
  'WL_SETTINGS_INVALID',
  'WL_USAGE',
  'WL_NODE_TOO_OLD',
  'WL_SPIDER_NOT_FOUND',
  'WL_SPIDER_LOAD',
  'WL_SPIDER_ARGUMENT',
  'WL_SPIDER_NOT_READY',
  'WL_COMPONENT_LOAD',
  'WL_JOBDIR_LOCKED',
  'WL_OUTPUT_UNWRITABLE',
  'WL_HEADER_INVALID',
  'WL_REDIS_REFUSED',
  'WL_CRAWL_FORMAT',
  'WL_CRAWL_LOST',
]

export function exitCodeOf(error: unknown): number {
  if (error instanceof WebloomError && error.code === 'WL_REDIS_UNREACHABLE') return EXIT.redisUnreachable
  return error instanceof WebloomError && USAGE_CODES.includes(error.code) ? EXIT.usage : EXIT.unexpected
}

/** A crawl that ended for these reasons did not do what it was asked to. */
const FAILED: readonly string[] = [
  'start_error',
  'internal_error',
  'output_failed',
  'crawl_lost',
  'other_settings',
  'requests_left',
  'browser_unavailable',
]

export function exitCodeOfReason(finishReason: string): number {
  return FAILED.includes(finishReason) ? EXIT.unexpected : EXIT.finished
}
