import { STEERING } from './steering.ts'
import type { Verb } from './verb.ts'
import { CRAWLS, VIEWS_OF_ONE } from './views.ts'

/** In the order of docs and lists. To add one: an entry in `views.ts` or `steering.ts`. */
export const VERBS: readonly Verb[] = [CRAWLS, ...VIEWS_OF_ONE, ...STEERING]

export function verbNamed(name: string): Verb | undefined {
  return VERBS.find((verb) => verb.name === name)
}
