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

/** FINGERPRINTER may name a function in a file: it is loaded once, here. */
export async function withLoadedFunctions(settings: Settings, folder: string): Promise<Settings> {
  const fingerprinter = settings.get('FINGERPRINTER')
  if (typeof fingerprinter !== 'string' || !fingerprinter.includes('#')) return settings
  const layer = settings.source('FINGERPRINTER')
  if (layer === undefined || layer === 'default') return settings
  return settings.with(layer, {
    FINGERPRINTER: await loadComponent(fingerprinter, { folder, setting: 'FINGERPRINTER' }),
  })
}
