/** A table for items, in any database. */

import { type Settings, SettingsError, WebloomError } from '@webloom/core'
import { itemJson } from '../scraping/written-item.ts'

/** Keeps rows of items under their ids. */
export interface SqlTable {
  /** The table's name in messages, without a password. */
  readonly shown: string
  /** Makes the table when there is none. Throws WL_OUTPUT_UNWRITABLE before any page is fetched. */
  open(): Promise<void>
  /** Writes all rows or none; a row replaces the one with its id. No id occurs twice in a call. */
  upsert(rows: readonly SqlRow[]): Promise<void>
  /** Returns what to do about an error of `upsert`. */
  verdict(error: unknown): SqlVerdict
  close(): Promise<void>
}

/**
 * `wait`: no row is there, and it may work later. `unanswered`: the rows may be there or not, and it may work later. `row`: one
 * row is at fault, and the others can be written. `give up`: it will never work.
 */
export type SqlVerdict = 'wait' | 'unanswered' | 'row' | 'give up'

/** An item as the table holds it. */
export interface SqlRow {
  readonly id: string
  /** The values, in the order of the columns. */
  readonly values: readonly unknown[]
}

/** The columns of the table. */
export interface SqlShape {
  /** SQL_TABLE: the table's name, with a schema where the database has schemas. */
  readonly table: string
  /** SQL_ID_COLUMN: the primary key, which holds the item's id. */
  readonly idColumn: string
  /** SQL_COLUMNS: a column for each field. Absent: one column, `item`, that holds the whole item as JSON. */
  readonly columns?: readonly SqlColumn[]
}

/** A column of the table that items are written to. */
export interface SqlColumn {
  /** The name of the item's field and of the column. */
  readonly name: string
  /** The type as in `create table`. Absent: the database's own choice for a text. */
  readonly type?: string
}

/** The column that holds whole items. */
export const ITEM_COLUMN = 'item'

/** Returns the error that `open` throws. */
export function cannotHold({ shown }: SqlTable, cause: unknown): WebloomError {
  const { message } = cause as Error
  return new WebloomError('WL_OUTPUT_UNWRITABLE', `items cannot go to ${shown}: ${message}`, { cause })
}

/** Returns the table that SQL_TABLE, SQL_ID_COLUMN and SQL_COLUMNS ask for. Throws SettingsError. */
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

/** Returns the row of an item. Throws TypeError for an item that has no JSON form. */
export function rowOf(item: unknown, id: string, { columns }: SqlShape): SqlRow {
  const plain = JSON.parse(itemJson(item)) as Record<string, unknown>
  return { id, values: columns ? columns.map(({ name }) => plain[name] ?? null) : [plain] }
}

export function columnNames({ columns }: SqlShape): string[] {
  return columns?.map(({ name }) => name) ?? [ITEM_COLUMN]
}

/** Returns the name in quotes; `schema.table` is two names. */
export function quotedTable(name: string): string {
  return name.split('.').map(quotedColumn).join('.')
}

/**
 * Returns the statement that makes the table. `anyType` is the type of a column without one, `jsonType` that of whole
 * items.
 */
export function createTable(shape: SqlShape, { anyType = '', jsonType = '' }): string {
  const { table, idColumn, columns = [{ name: ITEM_COLUMN, type: jsonType }] } = shape
  const parts = columns.map(({ name, type = anyType }) => `${quotedColumn(name)} ${type}`)
  return `CREATE TABLE IF NOT EXISTS ${quotedTable(table)} (${quotedColumn(idColumn)} TEXT PRIMARY KEY, ${parts.join(', ')})`
}

/** Returns the end of an insert by which a row with a known id replaces that one. */
export function onConflict(shape: SqlShape): string {
  const changes = columnNames(shape).map((name) => `${quotedColumn(name)} = excluded.${quotedColumn(name)}`)
  return `ON CONFLICT (${quotedColumn(shape.idColumn)}) DO UPDATE SET ${changes.join(', ')}`
}

/** Returns any text quoted as a name. */
export function quotedColumn(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
