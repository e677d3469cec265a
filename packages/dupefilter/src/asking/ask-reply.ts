/** What redis/ask.lua replies to one question. */
export interface Answer {
  /** A digit for each member. */
  readonly answers: string
  /** For each `6` in `answers` who was told "new", `<ms>:<the asker's first letters>`. */
  readonly told: readonly string[]
  /** The queue's run in which the asker was settled before this question; '' when it was not. */
  readonly settledIn: string
}

/** The reply of redis/ask.lua. */
export interface AskReply {
  readonly generation: string
  /** The time by the clock of the filter's Redis, milliseconds. */
  readonly now: number
  /** True when there are more marks to clean. */
  readonly more: boolean
  /** False when the askers' crawl is not in the record but should be. */
  readonly isKnown: boolean
  /** In the order of the questions. */
  readonly answers: readonly Answer[]
  /** What the filter's own store adds. */
  readonly extra: readonly unknown[]
}

export function askReplyOf(reply: unknown): AskReply {
  const [generation, now, more, isKnown, answers, ...extra] = listed(reply)
  return {
    generation: String(generation),
    now: Number(now),
    more: more === 1,
    isKnown: isKnown === 1,
    answers: listed(answers).map(answerOf),
    extra,
  }
}

function answerOf(part: unknown): Answer {
  // The answers alone: ioredis takes longer for each element of a reply than for its text.
  if (typeof part === 'string') return { answers: part, told: [], settledIn: '' }
  const [answers, told, settledIn] = listed(part)
  return { answers: String(answers), told: String(told).split('\n'), settledIn: String(settledIn) }
}

function listed(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) throw new TypeError(`the filter's script answered ${JSON.stringify(reply)}`)
  return reply
}
