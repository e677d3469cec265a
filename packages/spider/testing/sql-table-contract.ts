import assert from 'node:assert/strict'
import { WebloomError } from '@webloom/core'
import { type ContractTests, type Implementation, runContract, type TestRunner } from '@webloom/core/contract'
import type { SqlShape, SqlTable } from '../src/pipelines/sql-table.ts'

/** A database, and a way to look into it. */
export interface SqlUnderTest {
  /** A table of that shape in it, not yet opened; the name of the shape's table is the database's to choose. */
  table(shape?: Partial<SqlShape>): SqlTable
  /** Every row of the table, as the columns' texts, by id. */
  rows(columns: readonly string[]): Promise<(string | null)[][]>
}

const COLUMNS = [{ name: 'text' }, { name: 'price', type: 'NUMERIC CHECK (price < 100)' }]
const row = (id: string, ...values: unknown[]) => ({ id, values })

async function withTable(
  { table }: SqlUnderTest,
  shape: Partial<SqlShape>,
  act: (table: SqlTable) => Promise<void>,
): Promise<void> {
  const opened = table(shape)
  await opened.open()
  try {
    await act(opened)
  } finally {
    await opened.close()
  }
}

const TESTS: ContractTests<SqlUnderTest> = {
  'a row is written under its id, and takes the place of the one that had it': async (database) => {
    await withTable(database, { columns: COLUMNS }, async (table) => {
      await table.upsert([row('a', 'one', 1), row('b', 'it’s "two"', 2)])
      await table.upsert([row('c', null, null), row('a', 'one again', 1.5)])
    })
    assert.deepEqual(await database.rows(['text', 'price']), [
      ['a', 'one again', '1.5'],
      ['b', 'it’s "two"', '2'],
      ['c', null, null],
    ])
  },
  'ids, names and values are any text': async (database) => {
    const columns = [{ name: 'a "quoted" name; DROP TABLE x' }, { name: 'select' }]
    const id = `'; DROP TABLE "x"; -- \\ $1 ?1 é`
    await withTable(database, { columns }, async (table) => {
      await table.upsert([row(id, id, '')])
    })
    assert.deepEqual(await database.rows(columns.map(({ name }) => name)), [[id, id, '']])
  },
  'without columns an item is kept whole, as JSON': async (database) => {
    const item = { text: 'é', list: [1, { deep: null }], n: 1.5, yes: true }
    await withTable(database, {}, (table) => table.upsert([row('a', item)]))
    const [[, text]] = (await database.rows(['item'])) as [[string, string]]
    assert.deepEqual(JSON.parse(text), item)
  },
  'lists and objects in a column are their JSON': async (database) => {
    await withTable(database, { columns: [{ name: 'tags' }] }, (table) =>
      table.upsert([row('a', ['x', 'y']), row('b', { z: 1 })]),
    )
    const rows = (await database.rows(['tags'])) as [string, string][]
    assert.deepEqual(
      rows.map(([, text]) => JSON.parse(text)),
      [['x', 'y'], { z: 1 }],
    )
  },
  'of rows of which one is refused none is written, and that row is at fault': async (database) => {
    await withTable(database, { columns: COLUMNS }, async (table) => {
      await table.upsert([row('a', 'before', 1)])
      const refused = await table
        .upsert([row('a', 'after', 2), row('b', 'dear', 100), row('c', 'cheap', 3)])
        .then(() => undefined)
        .catch((error: unknown) => error)
      assert.equal(table.verdict(refused), 'row')
      assert.deepEqual(await database.rows(['text', 'price']), [['a', 'before', '1']])
      await table.upsert([row('c', 'cheap', 3)])
    })
    assert.deepEqual(await database.rows(['text']), [
      ['a', 'before'],
      ['c', 'cheap'],
    ])
  },
  'no rows are written without complaint': async (database) => {
    await withTable(database, {}, (table) => table.upsert([]))
    assert.deepEqual(await database.rows(['item']), [])
  },
  'a thousand rows go at once': async (database) => {
    const rows = Array.from({ length: 1000 }, (_, n) => row(`id ${n}`, { n, text: 'x'.repeat(1000) }))
    await withTable(database, {}, (table) => table.upsert(rows))
    assert.equal((await database.rows(['item'])).length, 1000)
  },
  'a table that is there is gone on with; one without a column is refused before anything is written': async (
    database,
  ) => {
    await withTable(database, { columns: [{ name: 'text' }] }, (table) => table.upsert([row('a', 'kept')]))
    await withTable(database, { columns: [{ name: 'text' }] }, async () => {})
    const other = database.table({ columns: [{ name: 'title' }] })
    await assert.rejects(
      other.open(),
      (error) => error instanceof WebloomError && error.code === 'WL_OUTPUT_UNWRITABLE',
    )
    await other.close()
    assert.deepEqual(await database.rows(['text']), [['a', 'kept']])
  },
  'two that open at once make one table, and write the same rows in any order': async (database) => {
    const tables = [database.table(), database.table()]
    await Promise.all(tables.map((table) => table.open()))
    const rows = Array.from({ length: 200 }, (_, n) => row(`id ${n}`, { n }))
    await Promise.all([tables[0]!.upsert(rows), tables[1]!.upsert(rows.toReversed())])
    for (const table of tables) await table.close()
    assert.equal((await database.rows(['item'])).length, 200)
  },
  'closing twice, or what was never opened, is harmless': async ({ table }) => {
    const one = table()
    await one.close()
    await one.open()
    await one.close()
    await one.close()
  },
}

/** Every SqlTable runs this. */
export function sqlTableContract(runner: TestRunner, implementation: Implementation<SqlUnderTest>): void {
  runContract(runner, 'SqlTable', TESTS, implementation)
}
