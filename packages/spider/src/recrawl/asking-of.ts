import { type Headers, type JsonObject, OF_ONE_VISIT, type Request } from '@webloom/core'
import { hasSteps } from '../traps/trap-chain.ts'

const DROPPED = Object.entries(OF_ONE_VISIT).flatMap(([key, isOfOneVisit]) => (isOfOneVisit ? [key] : []))

/**
 * Returns the request as it is asked the next time. What many pages have alike is kept once for all of them: a key with another value for each
 * page would make each of them long.
 */
export function askingOf(request: Request, headers: Headers): Request {
  const meta: JsonObject = request.hasMeta ? { ...request.meta } : {}
  for (const key of DROPPED) delete meta[key]
  // A chain that has steps is cut where it is too long, also when it grows by a few pages at each visit.
  if (!hasSteps(meta.trap_chain)) delete meta.trap_chain
  return request.replace({ meta, headers })
}
