/**
 * Every setting, in one table.
 *
 * To add one: a row in the file of `settings-table/` where a reader would look for it, then
 * `node --conditions=webloom-source scripts/settings-docs.ts`, which writes `docs/settings.md` and `settings-input.ts`.
 * When a release begins to use a name from `unused/`, its row moves to its theme's file and gets a summary.
 */

import type {
  Component,
  ComponentEntry,
  Setting,
  SettingDict,
  UnusedSettings,
  UsedSetting,
} from './setting-row.ts'
import { CLUSTER_SETTINGS } from './settings-table/cluster.ts'
import { CONNECTION_SETTINGS } from './settings-table/connections.ts'
import { CRAWL_SETTINGS } from './settings-table/crawl.ts'
import { BROWSER_SETTINGS, DOWNLOADER_SETTINGS } from './settings-table/downloader.ts'
import { LOG_SETTINGS } from './settings-table/log.ts'
import { MEDIA_SETTINGS } from './settings-table/media.ts'
import { MIDDLEWARE_SETTINGS } from './settings-table/middlewares.ts'
import { MONITOR_SETTINGS } from './settings-table/monitors.ts'
import { OUTPUT_SETTINGS } from './settings-table/output.ts'
import { PACE_SETTINGS } from './settings-table/pace.ts'
import { PROTECTION_SETTINGS } from './settings-table/protection.ts'
import { RECRAWL_SETTINGS } from './settings-table/recrawl.ts'
import { REDIS_SETTINGS } from './settings-table/redis.ts'
import { ROBOTS_SETTINGS } from './settings-table/robots.ts'
import { SCHEDULER_SETTINGS } from './settings-table/scheduler.ts'
import { TRAP_SETTINGS } from './settings-table/traps.ts'
import { UNUSED_CLUSTER_SETTINGS } from './settings-table/unused/cluster.ts'
import { UNUSED_SCRAPY_SETTINGS } from './settings-table/unused/scrapy.ts'

const USED_SETTINGS = [
  ...PACE_SETTINGS,
  ...CRAWL_SETTINGS,
  ...SCHEDULER_SETTINGS,
  ...RECRAWL_SETTINGS,
  ...REDIS_SETTINGS,
  ...CLUSTER_SETTINGS,
  ...DOWNLOADER_SETTINGS,
  ...CONNECTION_SETTINGS,
  ...BROWSER_SETTINGS,
  ...PROTECTION_SETTINGS,
  ...TRAP_SETTINGS,
  ...ROBOTS_SETTINGS,
  ...MIDDLEWARE_SETTINGS,
  ...OUTPUT_SETTINGS,
  ...MEDIA_SETTINGS,
  ...MONITOR_SETTINGS,
  ...LOG_SETTINGS,
] as const satisfies readonly UsedSetting[]

const UNUSED_SETTINGS = [
  ...UNUSED_SCRAPY_SETTINGS,
  ...UNUSED_CLUSTER_SETTINGS,
] as const satisfies readonly UnusedSettings[]

/** The settings that are used, by theme, as `docs/settings.md` shows them. */
export const SETTING_THEMES: readonly { title: string; settings: readonly UsedSetting[] }[] = [
  { title: 'Pace and amounts', settings: PACE_SETTINGS },
  { title: 'The crawl', settings: CRAWL_SETTINGS },
  { title: 'Which requests, in which order', settings: SCHEDULER_SETTINGS },
  { title: 'Pages that are visited again', settings: RECRAWL_SETTINGS },
  { title: 'Redis and its dupefilters', settings: REDIS_SETTINGS },
  { title: 'A crawl of many workers', settings: CLUSTER_SETTINGS },
  { title: 'Downloads', settings: DOWNLOADER_SETTINGS },
  { title: 'Connections', settings: CONNECTION_SETTINGS },
  { title: 'Pages that a browser renders', settings: BROWSER_SETTINGS },
  { title: 'Protection against a hostile web', settings: PROTECTION_SETTINGS },
  { title: 'Spider traps', settings: TRAP_SETTINGS },
  { title: 'robots.txt', settings: ROBOTS_SETTINGS },
  { title: 'Cookies, proxies, cache and referer', settings: MIDDLEWARE_SETTINGS },
  { title: 'Items and output', settings: OUTPUT_SETTINGS },
  { title: 'Files of items', settings: MEDIA_SETTINGS },
  { title: 'Runs and monitors', settings: MONITOR_SETTINGS },
  { title: 'Log and counters', settings: LOG_SETTINGS },
]

/** Every setting of the framework, the used ones first. */
export const SETTINGS_TABLE: readonly Setting[] = [
  ...USED_SETTINGS.map((row) => ({ ...row, use: 'used' }) as const satisfies Setting),
  ...UNUSED_SETTINGS.flatMap(asTableRows),
]

function asTableRows({ since, because, rows }: UnusedSettings): Setting[] {
  return rows.map((row) => ({ ...row, since, summary: because, use: 'unused' }))
}

const ROWS_BY_NAME: ReadonlyMap<string, Setting> = new Map(SETTINGS_TABLE.map((row) => [row.name, row]))

/** Returns the row of that name; undefined for a name that is not a setting. */
export function settingRow(name: string): Setting | undefined {
  return ROWS_BY_NAME.get(name)
}

/** Returns whether the framework has a setting of that name, used or not. */
export function isSettingName(name: string): name is SettingName {
  return ROWS_BY_NAME.has(name)
}

// The same table for the compiler: what an author may write, and what reading returns.

type TableRow = (typeof USED_SETTINGS)[number] | (typeof UNUSED_SETTINGS)[number]['rows'][number]

/** The name of a setting of the framework. */
export type SettingName = TableRow['name']

/** A setting of the user's own; any value, never checked. */
export type CustomSettingName = `CUSTOM_${string}`

type RowNamed<Name extends SettingName> = Extract<TableRow, { name: Name }>

type NullOf<Row> = Row extends { nullable: true } ? null : never

type ChoiceOf<Row> = Row extends { choices: readonly (infer Choice)[] } ? Choice : string

type SynonymOf<Row> = Row extends { synonyms: infer Synonyms } ? keyof Synonyms : never

type EntryOf<Row> = Row extends { of: 'int' } ? number : string

interface ReadTypes<Row> {
  bool: boolean
  int: number
  float: number
  string: string
  enum: ChoiceOf<Row>
  list: readonly EntryOf<Row>[]
  dict: SettingDict
  'list-or-dict': readonly string[] | SettingDict
  component: Component
  components: readonly ComponentEntry[]
}

interface WrittenTypes<Row> extends Omit<ReadTypes<Row>, 'enum' | 'components'> {
  enum: ChoiceOf<Row> | SynonymOf<Row>
  components: readonly ComponentEntry[] | { readonly [component: string]: number | null }
}

type ReadOf<Row> = Row extends TableRow ? ReadTypes<Row>[Row['type']] | NullOf<Row> : never

type WrittenOf<Row> = Row extends TableRow ? WrittenTypes<Row>[Row['type']] | NullOf<Row> : never

/** The type that reading a setting returns. */
export type SettingValue<Name extends SettingName> = ReadOf<RowNamed<Name>>

/** The type that an author may write for a setting. */
export type WrittenSetting<Name extends SettingName> = WrittenOf<RowNamed<Name>>

/** Names of settings that hold one of these types and never null. */
export type SettingNameOf<Type extends TableRow['type']> = TableRow extends infer Row
  ? Row extends { type: Type; name: infer Name extends string }
    ? Row extends { nullable: true }
      ? never
      : Name
    : never
  : never
