import { failureLedgerContract } from '@webloom/core/contract'
import { tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { BucketBench } from '../../testing/bucket-bench.ts'
import { JobBench } from '../../testing/job-bench.ts'
import { JobDir } from '../jobdir/job-dir.ts'
import { MemoryRequestQueue } from '../local/memory-request-queue.ts'
import { MemoryHostClock } from '../politeness/memory-host-clock.ts'

const buckets = new BucketBench()
const jobs = new JobBench()
beforeAll(async () => {
  await Promise.all([buckets.start(), jobs.start()])
})
afterAll(async () => {
  await jobs.closeAll()
  await Promise.all([buckets.stop(), jobs.stop()])
})

const clockOf = () => new MemoryHostClock({ pace: { delayMs: 0, concurrency: 0, randomize: false } })

failureLedgerContract(
  { describe, test },
  {
    name: 'The ledger of a MemoryRequestQueue',
    create: async ({ failedMax }) => {
      const queue = new MemoryRequestQueue({ clock: clockOf(), failedMax })
      return { queue, dispose: () => queue.close() }
    },
  },
)

failureLedgerContract(
  { describe, test },
  {
    name: 'The ledger of a JOBDIR',
    create: async ({ failedMax }) => {
      const dir = await tempDir()
      const { queue, record } = new JobDir({ folder: dir.path, spiderName: 's', clock: clockOf(), failedMax })
      return {
        queue,
        dispose: async () => {
          await queue.close()
          await record.close()
          await dir.remove()
        },
      }
    },
  },
)

failureLedgerContract(
  { describe, test },
  {
    name: 'The ledger of a BucketQueue',
    create: async ({ failedMax }) => {
      const queue = await buckets.queue({ failedMax })
      return { queue, dispose: () => queue.close() }
    },
  },
)

failureLedgerContract(
  { describe, test },
  {
    name: 'The ledger of a BullJobQueue',
    create: async ({ failedMax }) => {
      const queue = jobs.queue({ failedMax })
      return { queue, dispose: () => queue.close() }
    },
  },
)
