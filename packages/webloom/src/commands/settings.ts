import {
  isSettingName,
  SETTINGS_TABLE,
  type SettingName,
  Settings,
  shownValue,
  suggestedNames,
  UsageError,
  withoutSecrets,
} from '@webloom/core'
import type { LoadedConfig } from '../loading/config.ts'
import { settingsLayers } from '../loading/crawl-flags.ts'

export interface SettingsFlags {
  readonly get?: string
  readonly explain?: string
  readonly json?: boolean
  readonly set?: readonly string[]
}

/** Prints settings as they stand for this folder: one value, where one comes from, or all that are used. */
export function showSettings(flags: SettingsFlags, config: LoadedConfig | undefined): void {
  const { layers, places } = settingsLayers(flags, config)
  const settings = Settings.fromLayers(layers, places)
  settings.validate()
  if (flags.get !== undefined) printValue(settings, known(flags.get), flags.json)
  else if (flags.explain !== undefined) explain(settings, known(flags.explain), flags.json)
  else printAll(settings, flags.json)
}

function known(name: string): SettingName {
  if (isSettingName(name)) return name
  const near = suggestedNames(name)
  throw new UsageError(
    'WL_USAGE',
    `there is no setting ${name}${near.length > 0 ? `; did you mean ${near.join(' or ')}?` : ''}`,
  )
}

/** Without quotes: a setting that is asked for by its name is used in a script. */
function printValue(settings: Settings, name: SettingName, json = false): void {
  const value = settings.get(name)
  console.log(json || typeof value !== 'string' ? JSON.stringify(value) : value)
}

function explain(settings: Settings, name: SettingName, json = false): void {
  const row = SETTINGS_TABLE.find((one) => one.name === name)
  const explanation = settings.explain(name)
  if (json) {
    const value = withoutSecrets(name, explanation.value)
    const layers = explanation.layers.map((layer) => ({ ...layer, value: withoutSecrets(name, layer.value) }))
    console.log(JSON.stringify({ ...explanation, value, layers, summary: row?.summary }))
    return
  }
  console.log(`${name} = ${shownValue(name, explanation.value)}   (from ${explanation.source})`)
  if (row) console.log(`  ${row.summary}`)
  for (const { layer, place, value } of explanation.layers)
    console.log(`  ${layer.padEnd(12)} ${shownValue(name, value)}   ${place}`)
}

function printAll(settings: Settings, json = false): void {
  const rows = SETTINGS_TABLE.filter(({ use }) => use === 'used').map(({ name }) => ({
    name,
    value: json ? withoutSecrets(name, settings.get(name as SettingName)) : settings.get(name as SettingName),
    source: settings.source(name as SettingName),
  }))
  if (json) {
    console.log(JSON.stringify(rows))
    return
  }
  const width = Math.max(...rows.map(({ name }) => name.length))
  for (const { name, value, source } of rows) {
    console.log(
      `${name.padEnd(width)}  ${shownValue(name as SettingName, value)}${source === 'default' ? '' : `   (${source})`}`,
    )
  }
}
