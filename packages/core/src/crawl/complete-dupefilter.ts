import type { DupeFilter, Seen } from '../ports/dupefilter.ts'
import { withRedisCodes } from '../redis/store-trouble.ts'
import type { Request } from '../requests/request.ts'
import { requireMethods } from './component.ts'

/** The least that a dupefilter of one's own must have. */
export type SimpleDupeFilter = Pick<DupeFilter, 'requestSeen'> & Partial<DupeFilter>

/**
 * A filter of the user's own as a whole `DupeFilter`: what it leaves out does nothing, or goes by way of `requestSeen`.
 *
 * Without `requestsSeen` and `settled` it knows no owners: a link that was recorded but not yet queued when its worker
 * died is lost. `describe` then says so, and the start banner with it. Throws WL_COMPONENT_LOAD without `requestSeen`.
 */
export function completeDupeFilter(own: SimpleDupeFilter): DupeFilter {
  requireMethods(own, ['requestSeen'], 'dupefilter')
  const knowsAskers = own.requestsSeen !== undefined && own.settled !== undefined
  return {
    open: async () => own.open?.(),
    close: async () => own.close?.(),
    clear: () => told(() => own.clear?.()),
    requestSeen: (request, asker) => told(() => own.requestSeen(request, asker)),
    requestsSeen: async (requests, asker) => {
      // That an asker asks about nothing matters to our own filters; another need not know that it can happen.
      if (requests.length === 0) return []
      return told(() => own.requestsSeen?.(requests, asker) ?? oneByOne(own, requests))
    },
    settled: (asker) => told(() => own.settled?.(asker)),
    describe: async () =>
      own.describe?.() ?? {
        name: own.constructor.name,
        fingerprinter: 'its own',
        count: 0,
        owners: knowsAskers,
      },
    ...(own.givenBack && { givenBack: (asker: string) => own.givenBack!(asker) }),
    ...(own.joined && { joined: (goesOn: boolean) => told(() => own.joined!(goesOn)) }),
    ...(own.crawlEnded && { crawlEnded: () => own.crawlEnded!() }),
    ...(own.forget && { forget: (request: Request) => told(() => own.forget!(request)) }),
  }
}

/** What it throws as it stands may be a Redis's word: the crawl waits for one that is away or full, whoever asks it. */
function told<T>(ask: () => T | Promise<T>): Promise<T> {
  return withRedisCodes((async () => ask())())
}

async function oneByOne(own: SimpleDupeFilter, requests: readonly Request[]): Promise<Seen[]> {
  const answers: Seen[] = []
  for (const request of requests) answers.push(await own.requestSeen(request))
  return answers
}
