import { type TempDir, tempDir } from '@webloom/testkit'
import { JobDir, type JobDirOptions } from '../src/jobdir/job-dir.ts'
import { MemoryHostClock } from '../src/politeness/memory-host-clock.ts'

/** A clock whose hosts have no delay, but for what is given. */
export const clockOf = (pace = {}): MemoryHostClock =>
  new MemoryHostClock({ pace: { delayMs: 0, concurrency: 0, randomize: false, ...pace } })

export interface NewJob {
  readonly dir: TempDir
  readonly job: JobDir
  /** Closes queue and record, and deletes the folder. */
  readonly dispose: () => Promise<void>
}

/** A JOBDIR in a folder of its own. */
export async function newJob(options: Partial<JobDirOptions> = {}): Promise<NewJob> {
  const dir = await tempDir()
  const job = new JobDir({ folder: dir.path, spiderName: 's', clock: clockOf(), ...options })
  const dispose = async () => {
    await job.queue.close()
    await job.record.close()
    await dir.remove()
  }
  return { dir, job, dispose }
}
