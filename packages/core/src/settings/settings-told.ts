/** What a worker tells others of its settings: those that were set, and nothing that is secret. */

import { shownValue, withoutSecrets } from './setting-shown.ts'
import type { Settings, SettingsLayer } from './settings.ts'
import { type CustomSettingName, isSettingName } from './settings-table.ts'

/** A setting that somebody has set. */
export interface SettingTold {
  readonly name: string
  /** JSON, without secrets. */
  readonly value: unknown
  /** Where it was set: the config file, the spider, the environment or a command line. */
  readonly source: SettingsLayer
}

/** Returns them sorted by name. Names that there are not, which are only warned of, are left out. */
export function settingsTold(settings: Settings): SettingTold[] {
  return settings.namesSet().flatMap((name) => settingTold(settings, name) ?? [])
}

function settingTold(settings: Settings, name: string): SettingTold | undefined {
  if (!isSettingName(name) && !isCustom(name)) return undefined
  const { value, source } = settings.explain(name)
  if (source === undefined || source === 'default') return undefined
  return { name, value: asJson(name, value), source }
}

function isCustom(name: string): name is CustomSettingName {
  return name.startsWith('CUSTOM_')
}

/** A class in a list of components is told by its name. */
function asJson(name: string, value: unknown): unknown {
  const named = (_: string, entry: unknown) => (typeof entry === 'function' ? shownValue(name, entry) : entry)
  try {
    return JSON.parse(JSON.stringify(withoutSecrets(name, value), named) ?? 'null')
  } catch {
    return shownValue(name, value)
  }
}
