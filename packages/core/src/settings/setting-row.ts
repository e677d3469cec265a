/** A row of the settings table. The rows themselves are in `settings-table/`. */

/** The software a name comes from. `scrapy-redis-bloomfilter` stands for both Bloom forks of scrapy-redis. */
export type SettingOrigin = 'scrapy' | 'scrapy-redis' | 'scrapy-redis-bloomfilter' | 'webloom'

/** A component in settings: `./file.ts#Export` or a built-in name; in code also the class, function or object itself. */
export type Component = string | object

/** A component and its order among the others; `null` disables it. */
export type ComponentEntry = readonly [component: Component, order: number | null]

/** The value of a setting of type `dict`: values by name, as written. */
export type SettingDict = { readonly [key: string]: unknown }

/** The value of each type of setting after it was read. */
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
  /** True when `null` is a value of its own, whose meaning the summary gives. */
  readonly nullable?: true
  readonly unit?: string
  /** True when the value is a password or key, which no message shows whole. */
  readonly secret?: true
  /** The setting that this is another name for: a value given here counts as a value of that one. */
  readonly aliasOf?: string
}

interface NumberRow extends RowOf<'int' | 'float'> {
  readonly min?: number
  readonly max?: number
}

interface NamedValuesRow extends RowOf<'enum' | 'component'> {
  /** For a component: its built-in names. A file's export is written with `#` and needs no row here. */
  readonly choices?: readonly string[]
  /** Spellings that are read as another value, such as Python's dotted paths. */
  readonly synonyms?: { readonly [spelling: string]: string }
  /** For a component that must be a function: a class is refused. */
  readonly isFunction?: true
}

interface ListRow extends RowOf<'list'> {
  /** The type of the entries. Default: text. */
  readonly of?: 'int'
  /** The smallest and the largest entry. */
  readonly min?: number
  readonly max?: number
}

/** A setting as its file in `settings-table/` declares it. */
export type SettingRow =
  | NumberRow
  | NamedValuesRow
  | ListRow
  | RowOf<'bool'>
  | RowOf<'string'>
  | RowOf<'dict'>
  | RowOf<'list-or-dict'>
  | RowOf<'components'>

/** A setting that this release uses. */
export type UsedSetting = SettingRow & {
  readonly since: SettingOrigin
  /** What the setting does, in one line. */
  readonly summary: string
}

/** Known settings that nothing reads, so that an existing configuration is not refused. */
export interface UnusedSettings {
  readonly since: SettingOrigin
  /** The reason, after "known, not used:". */
  readonly because: string
  readonly rows: readonly SettingRow[]
}

/** A row of `SETTINGS_TABLE`. For an unused setting the summary is the reason why. */
export type Setting = UsedSetting & { readonly use: 'used' | 'unused' }
