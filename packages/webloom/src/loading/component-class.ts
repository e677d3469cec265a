/** Settings name components by class, by `./file.ts#Export` or by a built-in name; here they become what is meant. */

import { type Component, type ComponentClass, didYouMean, type Settings, SettingsError } from '@webloom/core'
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
  if (isFile(component)) throw whichExport(setting, component)
  const known = builtins.length > 0 ? ` a built-in name (${builtins.join(', ')}),` : ''
  const meant = typeof component === 'string' ? didYouMean(component, builtins) : ''
  throw new SettingsError([
    `${setting} names ${JSON.stringify(component)}; expected${known} ./file.ts#Export or a class${meant && `.${meant}`}`,
  ])
}

function isFile(component: unknown): component is string {
  return typeof component === 'string' && SCRIPT.test(component)
}

function whichExport(setting: string, file: string): SettingsError {
  return new SettingsError([
    `${setting} names the file ${JSON.stringify(file)}; say which of its exports is meant: ${file}#default, or ${file}#Name`,
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

/**
 * What a setting names by `./file.ts#Export` is loaded once, here, so that whoever reads the setting finds the class. Throws one
 * error that tells all that cannot be loaded.
 */
export async function withLoadedFunctions(settings: Settings, folder: string): Promise<Settings> {
  const failures: Error[] = []
  const load = async (setting: string, written: unknown): Promise<unknown> => {
    try {
      if (typeof written === 'string' && written.includes('#'))
        return await loadComponent(written, { folder, setting })
      if (isFile(written)) throw whichExport(setting, written)
    } catch (error) {
      failures.push(error as Error)
    }
    return written
  }
  let loaded = settings
  for (const setting of FUNCTIONS) {
    const layer = settings.source(setting)
    if (layer === undefined || layer === 'default') continue
    loaded = loaded.with(layer, { [setting]: await load(setting, settings.get(setting)) })
  }
  for (const setting of CLASSES_BY_NAME) {
    const layer = settings.source(setting)
    if (layer === undefined || layer === 'default') continue
    const classes: Record<string, unknown> = {}
    for (const [name, written] of Object.entries(settings.getDict(setting)))
      classes[name] = await load(setting, written)
    loaded = loaded.with(layer, { [setting]: classes })
  }
  if (failures.length === 1) throw failures[0]!
  if (failures.length > 1)
    throw new SettingsError(
      failures.flatMap((error) => (error instanceof SettingsError ? error.problems : [error.message])),
    )
  return loaded
}
