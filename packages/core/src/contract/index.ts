export { dupeFilterContract } from './dupefilter-contract.ts'
export {
  type QueueImplementation,
  type QueueUnderTest,
  requestQueueContract,
} from './request-queue-contract.ts'
export type { Deviation, Implementation, TestRunner } from './suite.ts'
