/** A table that takes items, whatever the database. */

import { type Settings, SettingsError, WebloomError } from '@webloom/core'
import { itemJson } from '../scraping/written-item.ts'

/** Rows of items under their ids. */
export interface SqlTable {
  /** What messages call it; no password. */
  readonly shown: string
  /** Makes the table where there is none. Throws WL_OUTPUT_UNWRITABLE, before anything is fetched. */
  open(): Promise<void>
  /** Writes all rows or none; one whose id is there already takes that one's place. No id is there twice in a call. */
  upsert(rows: readonly SqlRow[]): Promise<void>
  /** What to do about an error of `upsert`. */
  verdict(error: unknown): SqlVerdict
  close(): Promise<void>
}

/** `wait`: it may work later. `row`: a row is at fault, the others can be written. `give up`: nothing will ever. */
export type SqlVerdict = 'wait' | 'row' | 'give up'

/** An item as the table holds it. */
export interface SqlRow {
  readonly id: string
  /** In the order of the columns. */
  readonly values: readonly unknown[]
}

/** How the table looks. */
export interface SqlShape {
  /** SQL_TABLE: its name, with a schema where the database has them. */
  readonly table: string
  /** The primary key: the item's id. */
  readonly idColumn: string
  /** One for each field; absent: one column, called `item`, that holds all of the item as JSON. */
  readonly columns?: readonly SqlColumn[]
}

/** A column of the table that items are written to. */
export interface SqlColumn {
  /** The item's field, and the column. */
  readonly name: string
  /** As `create table` has it; absent: the database's own idea of a text. */
  readonly type?: string
}

/** The column that holds whole items. */
export const ITEM_COLUMN = 'item'

/** What `open` throws. */
export function cannotHold({ shown }: SqlTable, cause: unknown): WebloomError {
  const { message } = cause as Error
  return new WebloomError('WL_OUTPUT_UNWRITABLE', `items cannot go to ${shown}: ${message}`, { cause })
}

/** What SQL_TABLE, SQL_ID_COLUMN and SQL_COLUMNS ask for. Throws SettingsError. */
export function shapeFrom(settings: Settings, spiderName: string): SqlShape {
  // A dot or hyphen would have to be quoted in every query.
  const name = spiderName.replaceAll(/\W/g, '_')
  const table = settings.getString('SQL_TABLE').replaceAll(/%\((?:spider|name)\)s/g, name)
  const idColumn = settings.getString('SQL_ID_COLUMN')
  const written = settings.get('SQL_COLUMNS')
  if (written === null) return { table, idColumn }
  const columns = Array.isArray(written)
    ? written.map((name) => ({ name: String(name) }))
    : Object.entries(written).map(([name, type]) => ({ name, type: String(type) }))
  if (columns.some(({ name }) => name === idColumn))
    throw new SettingsError([
      `SQL_COLUMNS names ${idColumn}, which is the column of the ids. Make that field the id with ITEM_ID_FIELD=${idColumn} and leave it out, or choose another SQL_ID_COLUMN`,
    ])
  if (columns.length === 0)
    throw new SettingsError(['SQL_COLUMNS is empty; name fields, or set it to null for one column of JSON'])
  return { table, idColumn, columns }
}

/** The row of an item. Throws TypeError for one that has no JSON form. */
export function rowOf(item: unknown, id: string, { columns }: SqlShape): SqlRow {
  const plain = JSON.parse(itemJson(item)) as Record<string, unknown>
  return { id, values: columns ? columns.map(({ name }) => plain[name] ?? null) : [plain] }
}

export function columnNames({ columns }: SqlShape): string[] {
  return columns?.map(({ name }) => name) ?? [ITEM_COLUMN]
}

/** `schema.table` is two names. */
export function quotedTable(name: string): string {
  return name.split('.').map(quotedColumn).join('.')
}

/** The statement that makes the table. `anyType` stands for a column without a type, `jsonType` for whole items. */
export function createTable(shape: SqlShape, { anyType = '', jsonType = '' }): string {
  const { table, idColumn, columns = [{ name: ITEM_COLUMN, type: jsonType }] } = shape
  const parts = columns.map(({ name, type = anyType }) => `${quotedColumn(name)} ${type}`)
  return `CREATE TABLE IF NOT EXISTS ${quotedTable(table)} (${quotedColumn(idColumn)} TEXT PRIMARY KEY, ${parts.join(', ')})`
}

/** What follows an insert, so that a row with a known id replaces that one. */
export function onConflict(shape: SqlShape): string {
  const changes = columnNames(shape).map((name) => `${quotedColumn(name)} = excluded.${quotedColumn(name)}`)
  return `ON CONFLICT (${quotedColumn(shape.idColumn)}) DO UPDATE SET ${changes.join(', ')}`
}

/** Any text as a name. */
export function quotedColumn(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
