export { MemoryDupeFilter } from './memory-dupefilter.ts'
