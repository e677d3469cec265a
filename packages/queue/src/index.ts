export { MemoryHostClock, type MemoryHostClockOptions } from './memory-host-clock.ts'
export { MemoryRequestQueue, type MemoryRequestQueueOptions } from './memory-request-queue.ts'
