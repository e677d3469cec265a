import { requireMethods } from './component.ts'
import type { DupeFilter } from './ports/dupefilter.ts'
import type { Request } from './request.ts'

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
  const owners = own.requestsSeen !== undefined && own.settled !== undefined
  return {
    open: async () => own.open?.(),
    close: async () => own.close?.(),
    clear: async () => own.clear?.(),
    requestSeen: async (request, owner) => own.requestSeen(request, owner),
    requestsSeen: async (requests, owner) => own.requestsSeen?.(requests, owner) ?? oneByOne(own, requests),
    settled: async (owner) => own.settled?.(owner),
    describe: async () =>
      own.describe?.() ?? { name: own.constructor.name, fingerprinter: 'its own', count: 0, owners },
    ...(own.givenBack && { givenBack: (owner: string) => own.givenBack!(owner) }),
    ...(own.joined && { joined: (goesOn: boolean) => own.joined!(goesOn) }),
    ...(own.crawlEnded && { crawlEnded: () => own.crawlEnded!() }),
    ...(own.forget && { forget: (request: Request) => own.forget!(request) }),
  }
}

async function oneByOne(own: SimpleDupeFilter, requests: readonly Request[]): Promise<boolean[]> {
  const answers: boolean[] = []
  for (const request of requests) answers.push(await own.requestSeen(request))
  return answers
}
