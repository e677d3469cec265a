import { DatabaseSync } from 'node:sqlite'
import { tempDir } from '@webloom/testkit'
import { describe, test } from 'vitest'
import { sqlTableContract } from '../../testing/sql-table-contract.ts'
import { quotedColumn } from './sql-table.ts'
import { SqliteTable } from './sqlite-table.ts'

sqlTableContract(
  { describe, test },
  {
    name: 'SqliteTable',
    create: async () => {
      const dir = await tempDir()
      const path = dir.join('items.db')
      const rows = async (columns: readonly string[]) => {
        using database = new DatabaseSync(path)
        const texts = columns.map((name) => `CAST(${quotedColumn(name)} AS TEXT)`)
        const select = database.prepare(`SELECT id, ${texts.join(', ')} FROM items ORDER BY id`)
        select.setReturnArrays(true)
        return select.all() as unknown as (string | null)[][]
      }
      const subject = {
        table: (shape = {}) => new SqliteTable(path, { table: 'items', idColumn: 'id', ...shape }),
        rows,
      }
      return { subject, dispose: dir.remove }
    },
  },
)
