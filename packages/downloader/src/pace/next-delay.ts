/** How long an answer took. */
export interface AnswerTime {
  /** Seconds from the moment the request left to the answer's headers. */
  readonly latency: number
  readonly status: number
}

/** The bounds of AutoThrottle's delays, in seconds. */
export interface ThrottleRules {
  readonly minDelay: number
  readonly maxDelay: number
  /** How many requests should be in flight at a host on average. */
  readonly targetConcurrency: number
}

/**
 * Returns the seconds between two requests after this answer, by Scrapy's AutoThrottle. The target is the latency divided
 * by the requests in flight. A slower target is taken at once, a faster one half way. Answers other than 200 never shorten
 * the delay: an error page is quickly made.
 */
export function nextDelay(delay: number, { latency, status }: AnswerTime, rules: ThrottleRules): number {
  const target = latency / rules.targetConcurrency
  const halfWay = Math.max(target, (delay + target) / 2)
  const next = Math.min(Math.max(rules.minDelay, halfWay), rules.maxDelay)
  return status !== 200 && next <= delay ? delay : next
}
