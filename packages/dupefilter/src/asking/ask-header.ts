import type { ProtocolTimes } from '@webloom/core'
import { isElsewhere, type Settling } from './claims.ts'
import type { Question } from './question-line.ts'
import type { RedisRun } from './redis-run.ts'

export interface AskHeaderOptions {
  /** Who asks: of `asksIn`. */
  readonly ask: readonly object[]
  /** How many requests are asked about. */
  readonly count: number
  readonly settling: readonly Settling[]
  readonly cleaning: ReturnType<RedisRun['takeCleaning']>
  readonly young: RedisRun['young']
  /** What tells askers of this crawl from those of others. */
  readonly tag: string
  readonly staleMs: number
  readonly silenceMs: ProtocolTimes['filter']['silenceMs']
  /** The rules by which the fingerprints were made. */
  readonly fingerprinter: string
  /** True when Redis shall note that a worker has reached it. */
  readonly isNoted: boolean
  /** Which part of a filter over several servers is asked; undefined for a whole one. */
  readonly shard: string | undefined
}

/** Returns the header of redis/ask.lua, but for what is known of the crawl. What is not there is left out. */
export function askHeader({ cleaning, young, settling, ...options }: AskHeaderOptions): object {
  const { ask, count, staleMs, silenceMs, fingerprinter, isNoted, shard, tag } = options
  const header = { staleMs, silenceMs, count, fingerprinter, ask, settle: settlesIn(settling) }
  // An object made of many mostly empty parts would cost more than the question.
  if (isNoted) Object.assign(header, { heard: true })
  if (shard && settling.some(isElsewhere)) Object.assign(header, { elsewhere: elsewhereIn(settling) })
  if (young) Object.assign(header, { young: [young.run, young.lostMs, tag] })
  if (shard) Object.assign(header, { shard })
  if (cleaning) Object.assign(header, { clean: [cleaning.run, cleaning.before] })
  return header
}

/**
 * Returns who asks, for the header of redis/ask.lua.
 *
 * @param at for each question the places of its links among all that the call asks about; absent: all of them
 */
export function asksIn(
  questions: readonly Question[],
  at: readonly (readonly number[] | undefined)[],
): object[] {
  return questions.map(({ taggedAsker, attempt, again }, n) => {
    const indexes = at[n]
    return { owner: taggedAsker, attempt, ...(indexes && { at: indexes }), ...(again && { again }) }
  })
}

/** Returns who is settled, or has given back. */
function settlesIn(settling: readonly Settling[]): unknown[] {
  const here = settling.some(isElsewhere) ? settling.filter((one) => !isElsewhere(one)) : settling
  return here.map(({ taggedAsker, attempt, run }) =>
    run === undefined ? [taggedAsker, attempt] : [taggedAsker, attempt, run],
  )
}

/** Returns who is settled without having asked here: names only, as there are many, by run. */
function elsewhereIn(settling: readonly Settling[]): unknown[] {
  const byRun = new Map<string | undefined, string[]>()
  for (const { taggedAsker, run } of settling.filter(isElsewhere)) {
    const same = byRun.get(run)
    if (same) same.push(taggedAsker)
    else byRun.set(run, [taggedAsker])
  }
  return [...byRun]
}
