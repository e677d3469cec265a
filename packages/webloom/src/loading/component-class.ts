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
  const known = builtins.length > 0 ? ` a built-in name (${builtins.join(', ')}),` : ''
  throw new SettingsError([
    `${setting} names ${JSON.stringify(component)}; expected${known} ./file.ts#Export or a class`,
  ])
}

/** Settings that are functions. */
const FUNCTIONS = ['FINGERPRINTER', 'FEED_URI_PARAMS'] as const

/** A setting that is a function, or a class of FEED_EXPORTERS, may stand in a file: it is loaded once, here. */
export async function withLoadedFunctions(settings: Settings, folder: string): Promise<Settings> {
  let loaded = settings
  for (const setting of FUNCTIONS) {
    const written = settings.get(setting)
    const layer = settings.source(setting)
    if (typeof written !== 'string' || !written.includes('#')) continue
    if (layer === undefined || layer === 'default') continue
    loaded = loaded.with(layer, { [setting]: await loadComponent(written, { folder, setting }) })
  }
  return withLoadedExporters(loaded, folder)
}

async function withLoadedExporters(settings: Settings, folder: string): Promise<Settings> {
  const setting = 'FEED_EXPORTERS'
  const layer = settings.source(setting)
  if (layer === undefined || layer === 'default') return settings
  const exporters: Record<string, unknown> = {}
  for (const [format, exporter] of Object.entries(settings.getDict(setting))) {
    const isReference = typeof exporter === 'string' && exporter.includes('#')
    exporters[format] = isReference ? await loadComponent(exporter, { folder, setting }) : exporter
  }
  return settings.with(layer, { [setting]: exporters })
}
