import type { Settling } from './claims.ts'
import type { Question } from './question-line.ts'

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

/** Returns who is settled, or has given back, for the same header. */
export function settlesIn(settling: readonly Settling[]): unknown[] {
  return settling.map(({ taggedAsker, attempt, run }) =>
    run === undefined ? [taggedAsker, attempt] : [taggedAsker, attempt, run],
  )
}
