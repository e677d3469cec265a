/** `@webloom/downloader/contract`: suites for what stands behind the HTTP cache, a user's own too. */

export { httpCachePolicyContract } from './cache/http-cache-policy-contract.ts'
export {
  type CacheUnderTest,
  type HttpCacheStorageImplementation,
  httpCacheStorageContract,
} from './cache/http-cache-storage-contract.ts'
