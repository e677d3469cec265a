import { failureLedgerContract } from '@webloom/core/contract'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { BucketBench } from '../../testing/bucket-bench.ts'
import { JobBench } from '../../testing/job-bench.ts'
import { clockOf, newJob } from '../../testing/new-job.ts'
import { MemoryRequestQueue } from '../local/memory-request-queue.ts'

const buckets = new BucketBench()
const jobs = new JobBench()
beforeAll(async () => {
  await Promise.all([buckets.start(), jobs.start()])
})
afterAll(async () => {
  await jobs.closeAll()
  await Promise.all([buckets.stop(), jobs.stop()])
})

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
      const { job, dispose } = await newJob({ failedMax })
      return { queue: job.queue, dispose }
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
