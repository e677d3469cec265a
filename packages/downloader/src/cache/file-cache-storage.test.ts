import { tempDir } from '@webloom/testkit'
import { describe, test } from 'vitest'
import { FileCacheStorage } from './file-cache-storage.ts'
import { httpCacheStorageContract } from './http-cache-storage-contract.ts'

httpCacheStorageContract(
  { describe, test },
  {
    name: 'FileCacheStorage',
    create: async () => {
      const { path: folder, remove } = await tempDir()
      return {
        open: (options) => new FileCacheStorage({ folder, spiderName: 's', ...options }),
        dispose: remove,
      }
    },
  },
)
