/** What one answer tells of its host's speed. */
export interface AnswerTime {
  /** Seconds from the moment the request left to the answer's headers. */
  readonly latency: number
  readonly status: number
}

/** Within which bounds AutoThrottle chooses a delay; seconds. */
export interface ThrottleRules {
  readonly minDelay: number
  readonly maxDelay: number
  /** Requests that should be in flight at a host on the average. */
  readonly targetConcurrency: number
}

/**
 * The seconds between two requests after this answer, by Scrapy's AutoThrottle: half way from the present delay to the
 * latency shared by the requests in flight, and at once all the way when that is slower. Answers other than 200 never
 * make it faster: an error page is quickly made.
 */
export function nextDelay(delay: number, { latency, status }: AnswerTime, rules: ThrottleRules): number {
  const target = latency / rules.targetConcurrency
  const halfWay = Math.max(target, (delay + target) / 2)
  const next = Math.min(Math.max(rules.minDelay, halfWay), rules.maxDelay)
  return status !== 200 && next <= delay ? delay : next
}
