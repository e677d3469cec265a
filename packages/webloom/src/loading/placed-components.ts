/** The list of components that a setting such as EXTENSIONS makes of the built-in ones. */

import { buildComponents, type ComponentEntry, type Crawler, type Placed, SettingsError } from '@webloom/core'
import { componentClass } from './component-class.ts'

/** A built-in component: its short name, Scrapy's import path for it, and its place. */
export interface Builtin<T> extends Placed<T> {
  readonly scrapy?: string
  /** False: it runs only where the setting names it; its order is the one it gets there. */
  readonly isDefault?: false
}

type ComponentsSetting = 'DOWNLOADER_MIDDLEWARES' | 'SPIDER_MIDDLEWARES' | 'EXTENSIONS' | 'ITEM_PIPELINES'

/** The components, made and in their order. Throws `SettingsError` with every problem of that setting. */
export async function placedComponents<T>(
  setting: ComponentsSetting,
  base: readonly Builtin<T>[],
  crawler: Crawler,
  folder: string,
) {
  return buildComponents(await merged(setting, base, crawler.settings.get(setting), folder), crawler)
}

/** The base with what a setting adds, moves and disables. */
async function merged<T>(
  setting: string,
  base: readonly Builtin<T>[],
  entries: readonly ComponentEntry[],
  folder: string,
): Promise<Placed<T>[]> {
  const placed = new Map<unknown, Placed<T>>(
    base.filter(({ isDefault }) => isDefault !== false).map((builtin) => [builtin.name, builtin]),
  )
  const problems: string[] = []
  for (const [component, order] of entries) {
    const builtin = base.find(
      ({ name, scrapy, Class }) => component === name || component === scrapy || component === Class,
    )
    const key = builtin?.name ?? component
    if (order === null) placed.delete(key)
    else if (builtin) placed.set(key, { ...builtin, order })
    else {
      try {
        const Class = await componentClass<T>(
          setting,
          component,
          base.map(({ name }) => name),
          folder,
        )
        placed.set(key, { name: typeof component === 'string' ? component : Class.name, order, Class })
      } catch (error) {
        problems.push(...(error instanceof SettingsError ? error.problems : [(error as Error).message]))
      }
    }
  }
  if (problems.length > 0) throw new SettingsError(problems)
  return [...placed.values()]
}
