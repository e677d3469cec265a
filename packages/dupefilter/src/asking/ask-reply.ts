/** The reply of redis/ask.lua. */
export interface AskReply {
  readonly generation: string
  /** The time by the clock of the filter's Redis, milliseconds. */
  readonly now: number
  /** A digit for each member. */
  readonly answers: string
  /** True when there are more marks to clean. */
  readonly more: boolean
  /** For each `6` in `answers` who was told "new", `<ms>:<the asker's first letters>`. */
  readonly told: readonly string[]
  /** The queue's run in which the asker was settled before this question; '' when it was not. */
  readonly settledIn: string
  /** False when the asker's crawl is not in the record but should be. */
  readonly isKnown: boolean
  /** What the filter's own store adds. */
  readonly extra: readonly unknown[]
}

export function askReplyOf(reply: unknown): AskReply {
  if (!Array.isArray(reply)) throw new TypeError(`the filter's script answered ${JSON.stringify(reply)}`)
  const [generation, now, answers, more, told, settledIn, isKnown, ...extra] = reply as unknown[]
  return {
    generation: String(generation),
    now: Number(now),
    answers: String(answers),
    more: more === 1,
    told: String(told).split('\n'),
    settledIn: String(settledIn),
    isKnown: isKnown === 1,
    extra,
  }
}
