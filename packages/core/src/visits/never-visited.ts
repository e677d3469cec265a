import type { Visit } from '../ports/visit-store.ts'

/** Returns whether no run has asked for the page yet, as its host's budget was spent, say. Its record then has a time of no visit. */
export function isNeverVisited({ visits, failures, goneAnswers }: Visit): boolean {
  return visits === 0 && failures === 0 && goneAnswers === 0
}
