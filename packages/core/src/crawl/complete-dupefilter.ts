import { valueShown } from '@webloom/url'
import { WebloomError } from '../errors/errors.ts'
import type { DupeFilter, DupeFilterDescription, Seen } from '../ports/dupefilter.ts'
import { redisError } from '../redis/store-trouble.ts'
import type { Request } from '../requests/request.ts'
import { opened, requireMethods } from './component.ts'

/** The least that a user's own dupefilter must have. */
export type SimpleDupeFilter = Pick<DupeFilter, 'requestSeen'> & Partial<DupeFilter>

/** Each name of the port, so that the compiler reports a name that is missing below. Undefined: the filter has no such method. */
type EachName = { readonly [Name in keyof Required<DupeFilter>]: DupeFilter[Name] | undefined }

/**
 * Makes a whole `DupeFilter` of a user's own filter: its methods are called, and those that it lacks do nothing, or call
 * `requestSeen`.
 *
 * Without `requestsSeen` and `settled` it knows no askers: a link that was recorded but not yet queued when its worker
 * died is lost. `describe` then says so, and the start banner with it. Throws WL_COMPONENT_LOAD without `requestSeen`.
 *
 * An answer that is not one of the port's rejects with WL_COMPONENT_ANSWER. No answer may be guessed at: Redis's 0 and 1 are not
 * false and true, and a forgotten `return` would let every link pass, so that a site with loops is crawled without end.
 */
export function completeDupeFilter(own: SimpleDupeFilter): DupeFilter {
  requireMethods(own, ['requestSeen'], 'dupefilter', 'DUPEFILTER_CLASS')
  const knowsAskers = own.requestsSeen !== undefined && own.settled !== undefined
  const complete: EachName = {
    open: () =>
      opened(`the dupefilter ${own.constructor.name} (DUPEFILTER_CLASS)`, 'open', () =>
        told(() => own.open?.()),
      ),
    close: () => told(() => own.close?.()),
    clear: () => told(() => own.clear?.()),
    requestSeen: async (request, asker) =>
      oneAnswer(own, await told(() => own.requestSeen(request, asker)), request),
    requestsSeen: async (requests, asker) => {
      // A question about no links ends the asker's earlier attempt. A filter without askers need not know of it.
      if (requests.length === 0 && !knowsAskers) return []
      if (!own.requestsSeen) return told(() => oneByOne(own, requests))
      // Asked for each page: no promise more than is needed.
      let answers: unknown
      try {
        answers = await own.requestsSeen(requests, asker)
      } catch (error) {
        throw redisError(error)
      }
      return allAnswers(own, answers, requests, knowsAskers)
    },
    settled: (asker) => told(() => own.settled?.(asker)),
    describe: () => told(() => own.describe?.() ?? describedByUs(own, knowsAskers)),
    givenBack: asHas(own, own.givenBack),
    mayBeOutdated: own.mayBeOutdated && ((asker) => own.mayBeOutdated!(asker)),
    keepUnsettled: own.keepUnsettled && ((asker) => own.keepUnsettled!(asker)),
    unsettled: asHas(own, own.unsettled),
    place: asHas(own, own.place),
    joined: asHas(own, own.joined),
    crawlLost: asHas(own, own.crawlLost),
    knowsLostCrawl: asHas(own, own.knowsLostCrawl),
    crawlsBesides: asHas(own, own.crawlsBesides),
    crawlEnded: asHas(own, own.crawlEnded),
    forget: asHas(own, own.forget),
    has: asHas(own, own.has),
    exists: asHas(own, own.exists),
    memoryBytes: asHas(own, own.memoryBytes),
    letsAllPass: own.letsAllPass,
  }
  // Callers ask whether a method is there. Only names that the port lets a filter leave out are undefined.
  const present = Object.entries(complete).filter(([, part]) => part !== undefined)
  return Object.fromEntries(present) as unknown as DupeFilter
}

/** Returns the filter's own method, if it has one. */
function asHas<Given extends unknown[], Answer>(
  own: SimpleDupeFilter,
  method: ((...given: Given) => Promise<Answer>) | undefined,
): ((...given: Given) => Promise<Answer>) | undefined {
  return method && ((...given) => told(() => method.apply(own, given)))
}

/** Turns errors of Redis into codes: a crawl waits for a Redis that is away or full, whichever filter asks it. */
async function told<T>(ask: () => T | Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw redisError(error)
  }
}

async function oneByOne(own: SimpleDupeFilter, requests: readonly Request[]): Promise<Seen[]> {
  const answers: Seen[] = []
  for (const request of requests) answers.push(oneAnswer(own, await own.requestSeen(request), request))
  return answers
}

function oneAnswer(own: SimpleDupeFilter, answer: unknown, request: Request): boolean {
  if (typeof answer === 'boolean') return answer
  throw wrongAnswer(own, 'requestSeen', `${shown(answer)} for ${request}`, EXPECTED)
}

function allAnswers(
  own: SimpleDupeFilter,
  answers: unknown,
  requests: readonly Request[],
  knowsAskers: boolean,
): Seen[] {
  const count = requests.length
  if (!Array.isArray(answers) || answers.length !== count) {
    const given = Array.isArray(answers) ? `an array of ${answers.length}` : shown(answers)
    throw wrongAnswer(own, 'requestsSeen', given, `an array of ${count}, an answer for each request`)
  }
  for (let n = 0; n < count; n++) {
    const answer: unknown = answers[n]
    if (typeof answer === 'boolean' || (answer === 'in doubt' && knowsAskers)) continue
    const expected =
      answer === 'in doubt' ? `${EXPECTED}; only a filter that has settled(asker) may say so` : EXPECTED
    throw wrongAnswer(own, 'requestsSeen', `${shown(answer)} for ${requests[n]}`, expected)
  }
  return answers
}

const EXPECTED = 'true (it was seen before) or false (it is new)'

function wrongAnswer(own: SimpleDupeFilter, method: string, given: string, expected: string): WebloomError {
  return new WebloomError(
    'WL_COMPONENT_ANSWER',
    `the dupefilter ${own.constructor.name} answered ${method} with ${given}; expected ${expected}`,
  )
}

function shown(answer: unknown): string {
  return answer === undefined ? 'undefined (is a return missing?)' : valueShown(answer)
}

function describedByUs(own: SimpleDupeFilter, knowsAskers: boolean): DupeFilterDescription {
  return { name: own.constructor.name, fingerprinter: 'its own', count: 0, owners: knowsAskers }
}
