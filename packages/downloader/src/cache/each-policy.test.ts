import type { Request, Response } from '@webloom/core'
import { describe, test } from 'vitest'
import { DummyPolicy } from './dummy-policy.ts'
import type { CachedResponse, HttpCachePolicy } from './http-cache-policy.ts'
import { httpCachePolicyContract } from './http-cache-policy-contract.ts'
import { Rfc9111Policy } from './rfc9111-policy.ts'

const DAY_MS = 86_400_000

/** As that of docs/own-components.md: what names no time holds for a day. */
class DayPolicy extends Rfc9111Policy {
  override mayStore(response: Response): boolean {
    return response.status === 200 || super.mayStore(response)
  }

  override isFresh(cached: CachedResponse, request: Request): boolean {
    if (cached.response.headers.has('cache-control')) return super.isFresh(cached, request)
    return Date.now() - cached.storedAtMs < DAY_MS
  }
}

const POLICIES: Readonly<Record<string, () => HttpCachePolicy>> = {
  DummyPolicy: () => new DummyPolicy({}),
  Rfc9111Policy: () => new Rfc9111Policy(),
  'Rfc9111Policy that always stores': () => new Rfc9111Policy({ alwaysStore: true }),
  'a policy of one’s own': () => new DayPolicy(),
}

for (const [name, make] of Object.entries(POLICIES))
  httpCachePolicyContract(
    { describe, test },
    { name, create: async () => ({ subject: make(), dispose: async () => {} }) },
  )
