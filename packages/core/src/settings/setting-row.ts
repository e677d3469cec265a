/** What a row of the settings table says. The rows themselves stand in `settings-table/`. */

/** The software a name comes from. `scrapy-redis-bloomfilter` stands for both Bloom forks of scrapy-redis. */
export type SettingOrigin = 'scrapy' | 'scrapy-redis' | 'scrapy-redis-bloomfilter' | 'webloom'

/** Names in settings: `./file.ts#Export` or a built-in name; in code also the class, function or object itself. */
export type Component = string | object

/** A component and its place among the others; `null` disables it. */
export type ComponentEntry = readonly [component: Component, order: number | null]

/** What a setting of type `dict` holds: values by name, as they were written. */
export type SettingDict = { readonly [key: string]: unknown }

/** What each type of setting holds once it has been read. */
export interface SettingTypes {
  bool: boolean
  int: number
  float: number
  string: string
  enum: string
  list: readonly string[] | readonly number[]
  dict: SettingDict
  'list-or-dict': readonly string[] | SettingDict
  component: Component
  components: readonly ComponentEntry[]
}

export type SettingType = keyof SettingTypes

interface RowOf<Type extends SettingType> {
  readonly name: string
  readonly type: Type
  readonly default: SettingTypes[Type] | null
  /** `null` is a value of its own, with the meaning that the summary gives it. */
  readonly nullable?: true
  readonly unit?: string
  /** Holds a password or key: never shown whole in a message. */
  readonly secret?: true
  /** Another name for that setting: a value given here counts as a value of that one. */
  readonly aliasOf?: string
}

interface NumberRow extends RowOf<'int' | 'float'> {
  readonly min?: number
  readonly max?: number
}

interface NamedValuesRow extends RowOf<'enum' | 'component'> {
  /** For a component: its built-in names. A file's export is written with `#` and needs no row here. */
  readonly choices?: readonly string[]
  /** Spellings that are read as another one, such as Python's dotted paths. */
  readonly synonyms?: { readonly [spelling: string]: string }
}

interface ListRow extends RowOf<'list'> {
  /** What the entries are; text when absent. */
  readonly of?: 'int'
  /** The least and the greatest entry. */
  readonly min?: number
  readonly max?: number
}

/** A setting as its file in `settings-table/` writes it down. */
export type SettingRow =
  | NumberRow
  | NamedValuesRow
  | ListRow
  | RowOf<'bool'>
  | RowOf<'string'>
  | RowOf<'dict'>
  | RowOf<'list-or-dict'>
  | RowOf<'components'>

/** A setting that this release acts on. */
export type UsedSetting = SettingRow & {
  readonly since: SettingOrigin
  /** What it does, in one line. */
  readonly summary: string
}

/** Settings that are known, so that an existing configuration is not refused, but that nothing reads. */
export interface UnusedSettings {
  readonly since: SettingOrigin
  /** Follows "known, not used:". */
  readonly because: string
  readonly rows: readonly SettingRow[]
}

/** A row of `SETTINGS_TABLE`. For an unused setting the summary is the reason why. */
export type Setting = UsedSetting & { readonly use: 'used' | 'unused' }
