import { requestQueueContract } from '@webloom/core/contract'
import { describe, test } from 'vitest'
import { MemoryHostClock } from '../politeness/memory-host-clock.ts'
import { MemoryRequestQueue } from './memory-request-queue.ts'

requestQueueContract(
  { describe, test },
  {
    name: 'MemoryRequestQueue',
    create: async ({ order = 'priority', delayMs = 0, concurrency = 0 }) => {
      const clock = new MemoryHostClock({ pace: { delayMs, concurrency, randomize: false } })
      const queue = new MemoryRequestQueue({ clock, order })
      return { queue, dispose: () => queue.close() }
    },
  },
)
