// In memory

// In a JOBDIR
export { JobDir, type JobDirOptions } from './job-dir.ts'
export { MemoryCrawlRecord } from './memory-crawl-record.ts'
export { MemoryHostClock, type MemoryHostClockOptions } from './memory-host-clock.ts'
export { MemoryRequestQueue, type MemoryRequestQueueOptions } from './memory-request-queue.ts'
