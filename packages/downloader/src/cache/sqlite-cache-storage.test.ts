import { silentLogger } from '@webloom/core'
import { tempDir } from '@webloom/testkit'
import { describe, test } from 'vitest'
import { httpCacheStorageContract } from './http-cache-storage-contract.ts'
import { SqliteCacheStorage } from './sqlite-cache-storage.ts'

httpCacheStorageContract(
  { describe, test },
  {
    name: 'SqliteCacheStorage',
    create: async () => {
      const { path: folder, remove } = await tempDir()
      return {
        open: (options) =>
          new SqliteCacheStorage({ folder, spiderName: 's', logger: silentLogger, ...options }),
        dispose: remove,
      }
    },
  },
)
