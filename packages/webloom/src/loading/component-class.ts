/** Settings name components by class, by `./file.ts#Export` or by a built-in name; here they become what is meant. */

import {
  type Component,
  type ComponentClass,
  didYouMean,
  pythonHint,
  type Settings,
  SettingsError,
  valueShown,
} from '@webloom/core'
import { loadClass, loadComponent } from './component-reference.ts'

/** The class that a setting names; a built-in name is not for here, and `builtins` is for the message. */
export async function componentClass<T>(
  setting: string,
  component: Component,
  builtins: readonly string[],
  folder: string,
): Promise<ComponentClass<T>> {
  const value: unknown =
    typeof component === 'string' && component.includes('#')
      ? await loadClass(component, { folder, setting })
      : component
  if (typeof value === 'function') return value as ComponentClass<T>
  if (isScript(component)) throw new SettingsError([withoutExport(setting, component)])
  const known = builtins.length > 0 ? ` a built-in name (${builtins.join(', ')}),` : ''
  const meant = typeof component === 'string' ? didYouMean(component, builtins) : ''
  const shown = typeof component === 'string' ? JSON.stringify(component) : valueShown(component)
  throw new SettingsError([
    `${setting} names ${shown}; expected${known} ./file.ts#Export or a class${pythonHint(component) || (meant && `.${meant}`)}`,
  ])
}

function isScript(component: unknown): component is string {
  return typeof component === 'string' && /\.[cm]?[jt]s$/.test(component)
}

function withoutExport(setting: string, file: string): string {
  return `${setting} names the file ${JSON.stringify(file)}; say which of its exports is meant: ${file}#default, or ${file}#Name`
}

/** Settings that are a function or a class. */
const FUNCTIONS = [
  'FINGERPRINTER',
  'FEED_URI_PARAMS',
  'HTTPCACHE_POLICY',
  'HTTPCACHE_STORAGE',
  'STATS_CLASS',
] as const

/** Of these, the settings for which any function will do. */
const MAY_BE_FUNCTIONS: ReadonlySet<string> = new Set(['FINGERPRINTER', 'FEED_URI_PARAMS'])

/** Settings that hold classes by name. */
const CLASSES_BY_NAME = ['DOWNLOAD_HANDLERS', 'FEED_EXPORTERS', 'FEED_STORAGES'] as const

/**
 * Loads what a setting names by `./file.ts#Export` once, so that whoever reads the setting finds the class. Throws an
 * error with all that cannot be loaded.
 */
export async function withLoadedFunctions(settings: Settings, folder: string): Promise<Settings> {
  const errors: unknown[] = []
  const load = async (written: unknown, setting: string, isOfClass: boolean): Promise<unknown> => {
    try {
      if (isScript(written)) throw new SettingsError([withoutExport(setting, written)])
      const isReference = typeof written === 'string' && written.includes('#')
      if (!isReference) return written
      return await (isOfClass ? loadClass : loadComponent)(written, { folder, setting })
    } catch (error) {
      errors.push(error)
      return written
    }
  }
  let loaded = settings
  for (const setting of [...FUNCTIONS, ...CLASSES_BY_NAME]) {
    const layer = settings.source(setting)
    if (layer === undefined || layer === 'default') continue
    loaded = loaded.with(layer, { [setting]: await loadedValue(settings, setting, load) })
  }
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new SettingsError(errors.flatMap(problemsOf))
  return loaded
}

async function loadedValue(
  settings: Settings,
  setting: (typeof FUNCTIONS)[number] | (typeof CLASSES_BY_NAME)[number],
  load: (written: unknown, setting: string, isOfClass: boolean) => Promise<unknown>,
): Promise<unknown> {
  if (!isByName(setting)) return load(settings.get(setting), setting, !MAY_BE_FUNCTIONS.has(setting))
  const classes: Record<string, unknown> = {}
  for (const [name, written] of Object.entries(settings.getDict(setting))) {
    // Set as others are, it would become the object's prototype.
    if (name === '__proto__')
      throw new SettingsError([`${setting} has the key "__proto__", which nothing can be called; remove it`])
    classes[name] = await load(written, `${setting}[${JSON.stringify(name)}]`, true)
  }
  return classes
}

function isByName(setting: string): setting is (typeof CLASSES_BY_NAME)[number] {
  return CLASSES_BY_NAME.some((name) => name === setting)
}

/** Returns what an error of a component says, as lines of a `SettingsError`. */
export function problemsOf(error: unknown): readonly string[] {
  return error instanceof SettingsError ? error.problems : [(error as Error).message]
}
