/** Where TEST_POSTGRES_URL names a server whose database may be written. */

import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { describe, test } from 'vitest'
import { sqlTableContract } from '../../testing/sql-table-contract.ts'
import { PostgresTable } from './postgres-table.ts'
import { quotedColumn } from './sql-table.ts'

const URL = process.env.TEST_POSTGRES_URL

sqlTableContract(
  { describe, test: URL === undefined ? test.skip : test },
  {
    name: 'PostgresTable (TEST_POSTGRES_URL)',
    create: async () => {
      const name = `webloom_test_${randomUUID().replaceAll('-', '')}`
      const client = new Client(URL)
      await client.connect()
      const rows = async (columns: readonly string[]) => {
        const texts = columns.map((column) => `${quotedColumn(column)}::text`)
        const text = `SELECT id, ${texts.join(', ')} FROM ${name} ORDER BY id COLLATE "C"`
        return (await client.query({ text, rowMode: 'array' })).rows as (string | null)[][]
      }
      const subject = {
        table: (shape = {}) => new PostgresTable(URL!, { table: name, idColumn: 'id', ...shape }),
        rows,
      }
      const dispose = async () => {
        await client.query(`DROP TABLE IF EXISTS ${name}`)
        await client.end()
      }
      return { subject, dispose }
    },
  },
)
