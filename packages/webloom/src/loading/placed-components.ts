/** The list of components that a setting such as EXTENSIONS makes of the built-in ones. */

import {
  buildComponents,
  type ComponentEntry,
  type Crawler,
  type DownloaderMiddleware,
  type Extension,
  type ItemPipeline,
  type OptionNames,
  type Placed,
  requireHooks,
  SettingsError,
  type SpiderMiddleware,
  UsageError,
  WebloomError,
} from '@webloom/core'
import { componentClass, problemsOf } from './component-class.ts'

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
  const placed = await merged(setting, base, crawler.settings.get(setting), folder)
  const builtins = new Set<unknown>(base.map(({ Class }) => Class))
  const own = placed.filter(({ Class }) => !builtins.has(Class))
  checkEach(own, ({ name, Class }) => refusePythonName(setting, name, Class))
  const built = buildComponents(placed, crawler, setting)
  checkEach(own, ({ name }) => {
    const component = built.find((one) => one.name === name)?.component
    if (component) checkHooks(setting, name, component)
  })
  return built
}

/** Makes the lists of several settings, one after the other. What is wrong with components of several lists is told in one error. */
export async function inOneError<T extends readonly (() => Promise<unknown>)[]>(
  ...makes: T
): Promise<{ -readonly [K in keyof T]: Awaited<ReturnType<T[K]>> }> {
  const made: unknown[] = []
  const errors: unknown[] = []
  for (const make of makes) {
    try {
      made.push(await make())
    } catch (error) {
      errors.push(error)
    }
  }
  throwAll(errors)
  return made as { -readonly [K in keyof T]: Awaited<ReturnType<T[K]>> }
}

/** Checks each component. What is wrong with several is told in one error. */
function checkEach<T>(checked: readonly T[], check: (one: T) => void): void {
  const errors: unknown[] = []
  for (const one of checked) {
    try {
      check(one)
    } catch (error) {
      errors.push(error)
    }
  }
  throwAll(errors)
}

function throwAll(errors: readonly unknown[]): void {
  if (errors.length === 0) return
  const other = errors.find((error) => !isOfComponent(error))
  if (other !== undefined || errors.length === 1) throw other ?? errors[0]
  throw new SettingsError(errors.flatMap(problemsOf))
}

/** False for trouble of another kind, such as a Redis that does not answer: it is told by itself. */
function isOfComponent(error: unknown): boolean {
  return error instanceof WebloomError && ['WL_COMPONENT_LOAD', 'WL_SETTINGS_INVALID'].includes(error.code)
}

const WHAT = {
  DOWNLOADER_MIDDLEWARES: 'the downloader middleware',
  SPIDER_MIDDLEWARES: 'the spider middleware',
  EXTENSIONS: 'the extension',
  ITEM_PIPELINES: 'the item pipeline',
} as const satisfies Record<ComponentsSetting, string>

type HookNames = {
  readonly DOWNLOADER_MIDDLEWARES: OptionNames<Omit<DownloaderMiddleware, 'alsoForRobotsTxt'>>
  readonly SPIDER_MIDDLEWARES: OptionNames<SpiderMiddleware>
  readonly EXTENSIONS: OptionNames<Extension>
  readonly ITEM_PIPELINES: OptionNames<ItemPipeline>
}

const HOOKS: HookNames = {
  DOWNLOADER_MIDDLEWARES: {
    requestScheduled: true,
    processRequest: true,
    processResponse: true,
    processException: true,
  },
  SPIDER_MIDDLEWARES: {
    processSpiderInput: true,
    processSpiderRequest: true,
    processSpiderItem: true,
    processSpiderRequests: true,
    processSpiderOutput: true,
    processSpiderException: true,
    processStart: true,
  },
  EXTENSIONS: { close: true },
  ITEM_PIPELINES: { openSpider: true, processItem: true, gone: true, closeSpider: true },
}

function refusePythonName(setting: ComponentsSetting, name: string, Class: object): void {
  if (!('from_crawler' in Class)) return
  throw new UsageError(
    'WL_COMPONENT_LOAD',
    `${WHAT[setting]} ${JSON.stringify(name)} of ${setting} has static from_crawler; here it is called fromCrawler`,
  )
}

/** Of a component without hooks the crawl would call nothing, and nobody would notice. */
function checkHooks(setting: ComponentsSetting, name: string, component: object): void {
  // An extension may have asked for all it wants in its fromCrawler.
  const isListener = setting === 'EXTENSIONS' && 'fromCrawler' in component.constructor
  if (!isListener)
    requireHooks(
      component,
      Object.keys(HOOKS[setting]),
      `${WHAT[setting]} ${JSON.stringify(name)} of ${setting}`,
    )
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
        problems.push(...problemsOf(error))
      }
    }
  }
  if (problems.length > 0) throw new SettingsError(problems)
  return [...placed.values()]
}
