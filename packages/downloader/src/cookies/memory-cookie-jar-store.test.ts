import { MemoryStatsCollector } from '@webloom/core'
import { describe, test } from 'vitest'
import { cookieJarStoreContract, PER_DOMAIN_MAX } from './cookie-jar-store-contract.ts'
import { MemoryCookieJarStore } from './memory-cookie-jar-store.ts'

cookieJarStoreContract(
  { describe, test },
  {
    name: 'MemoryCookieJarStore',
    create: async () => {
      const stats = new MemoryStatsCollector()
      const bounds = { perDomainMax: PER_DOMAIN_MAX, cookiesMax: 1000, jarsMax: 10 }
      return { subject: new MemoryCookieJarStore({ ...bounds, stats }), dispose: async () => {} }
    },
  },
)
