import {
  type Crawler,
  DownloadError,
  type Logger,
  logLevel,
  type Request,
  type StatsCollector,
} from '@webloom/core'

/** How often a request may be tried again, and how that is counted. */
export interface TryRules {
  /** Tries after the first one, unless the request's `meta.max_retry_times` gives another number. */
  readonly times: number
  /** Added to the priority, unless the request's `meta.priority_adjust` gives another number. */
  readonly priorityAdjust: number
  readonly giveUpLogLevel: string
  /** The first part of the stats' keys. Default `retry`. */
  readonly statsBaseKey?: string
  readonly stats: StatsCollector
  readonly logger: Logger
}

/** Counts and returns the request for its next try; null when its tries are used up, which is counted and logged. */
export function nextTry(request: Request, reason: string, rules: TryRules, detail?: string): Request | null {
  const { stats, logger, statsBaseKey = 'retry' } = rules
  const { meta } = request
  const times = numberOr(meta.retry_times, 0) + 1
  const line = { url: request.url, times, reason, ...(detail && { detail }) }
  if (times > numberOr(meta.max_retry_times, rules.times)) {
    stats.inc(`${statsBaseKey}/max_reached`)
    const level = typeof meta.give_up_log_level === 'string' ? meta.give_up_log_level : rules.giveUpLogLevel
    logger[logLevel(level, 'error')](line, 'gave up retrying')
    return null
  }
  stats.inc(`${statsBaseKey}/count`)
  stats.inc(`${statsBaseKey}/reason_count/${reason}`)
  logger.debug(line, 'retrying')
  return request.replace({
    meta: { ...meta, retry_times: times },
    priority: request.priority + numberOr(meta.priority_adjust, rules.priorityAdjust),
  })
}

/**
 * Returns the request for its next try together with its host. The failure is the host's, so it costs neither the request's
 * tries nor its priority. Null when the request has waited `times` times: from then on failures cost it both.
 */
export function tryWithHost(
  request: Request,
  reason: string,
  { times, stats, logger }: Pick<TryRules, 'times' | 'stats' | 'logger'>,
): Request | null {
  const waited = numberOr(request.meta.host_retry_times, 0) + 1
  if (waited > times) return null
  stats.inc('retry/count')
  stats.inc('retry/host_count')
  stats.inc(`retry/reason_count/${reason}`)
  logger.debug({ url: request.url, times: waited, reason }, 'retrying when its host answers again')
  return request.replace({ meta: { ...request.meta, host_retry_times: waited } })
}

/** Why a page is to be fetched again, and how often. */
export interface RetryRequestOptions {
  /** The spider whose settings and stats are used. */
  readonly spider: { readonly crawler: Pick<Crawler, 'settings' | 'stats' | 'logger'> }
  /** Counted as `retry/reason_count/<reason>`; for an error, its kind or name. Default `unspecified`. */
  readonly reason?: string | Error
  /** Replaces `meta.max_retry_times` and RETRY_TIMES. */
  readonly maxRetryTimes?: number
  /** Replaces `meta.priority_adjust` and RETRY_PRIORITY_ADJUST. */
  readonly priorityAdjust?: number
  /** The first part of the stats' keys. Default `retry`. */
  readonly statsBaseKey?: string
}

/**
 * Returns, for a callback that finds its page to be a bad one, the request to yield so that the page is fetched again, past
 * the dupefilter; null when its tries are used up.
 */
export function getRetryRequest(request: Request, options: RetryRequestOptions): Request | null {
  const { spider, reason = 'unspecified', maxRetryTimes, priorityAdjust, statsBaseKey } = options
  const { settings, stats, logger } = spider.crawler
  const asked = request.replace({
    meta: {
      ...request.meta,
      ...(maxRetryTimes !== undefined && { max_retry_times: maxRetryTimes }),
      ...(priorityAdjust !== undefined && { priority_adjust: priorityAdjust }),
    },
  })
  const again = nextTry(asked, typeof reason === 'string' ? reason : kindOf(reason), {
    times: settings.getInt('RETRY_TIMES'),
    priorityAdjust: settings.getInt('RETRY_PRIORITY_ADJUST'),
    giveUpLogLevel: settings.getString('RETRY_GIVE_UP_LOG_LEVEL'),
    ...(statsBaseKey !== undefined && { statsBaseKey }),
    stats,
    logger,
  })
  if (!again) return null
  // The limits are this call's alone; the next call may give others.
  const meta = { ...request.meta, retry_times: again.meta.retry_times! }
  return again.replace({ meta, dontFilter: true })
}

function kindOf(error: Error): string {
  return error instanceof DownloadError ? error.kind : error.name
}

/** Returns the value of a meta key as a number, or `otherwise` where it is none. */
export function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}
