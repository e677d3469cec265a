import { crawlRecordContract } from '@webloom/core/contract'
import { tempDir } from '@webloom/testkit'
import { describe, test } from 'vitest'
import { MemoryHostClock } from '../politeness/memory-host-clock.ts'
import { JobDir } from './job-dir.ts'

const clock = new MemoryHostClock({ pace: { delayMs: 0, concurrency: 0, randomize: false } })

crawlRecordContract(
  { describe, test },
  {
    name: 'The record of a JOBDIR',
    create: async () => {
      const { path: folder, remove } = await tempDir()
      return { record: () => new JobDir({ folder, spiderName: 's', clock }).record, dispose: remove }
    },
  },
)
