/** Settings name components by class, by `./file.ts#Export` or by a built-in name; here they become what is meant. */

import { type Component, type ComponentClass, type Settings, SettingsError } from '@webloom/core'
import { loadComponent } from './component-reference.ts'

/** The class that a setting names; a built-in name is not for here, and `builtins` is for the message. */
export async function componentClass<T>(
  setting: string,
  component: Component,
  builtins: readonly string[],
  folder: string,
): Promise<ComponentClass<T>> {
  const value: unknown =
    typeof component === 'string' && component.includes('#')
      ? await loadComponent(component, { folder, setting })
      : component
  if (typeof value === 'function') return value as ComponentClass<T>
  if (typeof component === 'string' && SCRIPT.test(component))
    throw new SettingsError([
      `${setting} names the file ${JSON.stringify(component)}; say which of its exports is meant: ${component}#default, or ${component}#Name`,
    ])
  const known = builtins.length > 0 ? ` a built-in name (${builtins.join(', ')}),` : ''
  throw new SettingsError([
    `${setting} names ${JSON.stringify(component)}; expected${known} ./file.ts#Export or a class`,
  ])
}

const SCRIPT = /\.[cm]?[jt]s$/

/** Settings that are a function or a class. */
const FUNCTIONS = [
  'FINGERPRINTER',
  'FEED_URI_PARAMS',
  'HTTPCACHE_POLICY',
  'HTTPCACHE_STORAGE',
  'STATS_CLASS',
] as const

/** Settings that hold classes by name. */
const CLASSES_BY_NAME = ['DOWNLOAD_HANDLERS', 'FEED_EXPORTERS', 'FEED_STORAGES'] as const

/** What a setting names by `./file.ts#Export` is loaded once, here, so that whoever reads the setting finds the class. */
export async function withLoadedFunctions(settings: Settings, folder: string): Promise<Settings> {
  let loaded = settings
  for (const setting of FUNCTIONS) {
    const written = settings.get(setting)
    const layer = settings.source(setting)
    if (typeof written !== 'string' || !written.includes('#')) continue
    if (layer === undefined || layer === 'default') continue
    loaded = loaded.with(layer, { [setting]: await loadComponent(written, { folder, setting }) })
  }
  for (const setting of CLASSES_BY_NAME) loaded = await withLoadedClasses(loaded, setting, folder)
  return loaded
}

async function withLoadedClasses(
  settings: Settings,
  setting: (typeof CLASSES_BY_NAME)[number],
  folder: string,
): Promise<Settings> {
  const layer = settings.source(setting)
  if (layer === undefined || layer === 'default') return settings
  const classes: Record<string, unknown> = {}
  for (const [name, written] of Object.entries(settings.getDict(setting))) {
    const isReference = typeof written === 'string' && written.includes('#')
    classes[name] = isReference ? await loadComponent(written, { folder, setting }) : written
  }
  return settings.with(layer, { [setting]: classes })
}
