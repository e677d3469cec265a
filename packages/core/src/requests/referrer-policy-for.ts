import { type ReferrerPolicy, referrerPolicyNamed } from '@webloom/url'
import type { Request } from './request.ts'
import type { Response } from './response.ts'

/**
 * Returns the referrer policy for a request that `response` led to: `meta.referrer_policy`, else the page's Referrer-Policy
 * header, else `otherwise`. Of a list the last known one counts.
 */
export function referrerPolicyFor(
  request: Request,
  response: Response,
  otherwise: ReferrerPolicy,
): ReferrerPolicy {
  const own = request.hasMeta ? request.meta.referrer_policy : undefined
  const named = typeof own === 'string' ? [own] : response.headers.getAll('referrer-policy')
  return referrerPolicyNamed(named) ?? otherwise
}
