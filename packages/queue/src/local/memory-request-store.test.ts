import { describe, test } from 'vitest'
import { requestStoreContract } from '../../testing/request-store-contract.ts'
import { MemoryRequestStore } from './memory-request-store.ts'

requestStoreContract(
  { describe, test },
  {
    name: 'MemoryRequestStore',
    deviations: [
      {
        test: 'a step that fails leaves nothing of what it did, and the next run goes on without it',
        reason: 'no step in memory can fail half way, and there is no next run',
      },
    ],
    create: async () => ({ make: (order) => new MemoryRequestStore(order), dispose: async () => {} }),
  },
)
