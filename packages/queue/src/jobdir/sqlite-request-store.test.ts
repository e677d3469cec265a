import { silentLogger } from '@webloom/core'
import { tempDir } from '@webloom/testkit'
import { describe, test } from 'vitest'
import { requestStoreContract } from '../../testing/request-store-contract.ts'
import { JobDatabase } from './job-database.ts'
import { SqliteRequestStore } from './sqlite-request-store.ts'

requestStoreContract(
  { describe, test },
  {
    name: 'SqliteRequestStore',
    create: async () => {
      const dir = await tempDir()
      let database: JobDatabase | undefined
      return {
        make: (order) => {
          database?.close()
          database = new JobDatabase({ folder: dir.path, spiderName: 's' })
          return new SqliteRequestStore({ database, order, logger: silentLogger, onHandedOn() {} })
        },
        dispose: async () => {
          database?.close()
          await dir.remove()
        },
      }
    },
  },
)
