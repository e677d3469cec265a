/** SPIDER_LOADER_CLASS: spiders that come from elsewhere than the files that the config names. */

import {
  type Awaitable,
  environmentSettings,
  requireMethods,
  Settings,
  UsageError,
  valueShown,
  type WrittenSettings,
} from '@webloom/core'
import type { SpiderClass } from '@webloom/spider'
import { componentClass } from './component-class.ts'
import type { LoadedConfig } from './config.ts'
import { LOADING_MS_MAX, type LoadTimes, loadedInTime, NotLoadedInTime } from './loaded-in-time.ts'
import { isSpiderClass } from './spider-class.ts'

/**
 * Finds a project's spiders by their names, as a class that SPIDER_LOADER_CLASS names. It is made by its
 * `static fromSettings(settings)`, or by `new` without arguments, once for each command. What it throws ends the command with
 * WL_SPIDER_LOAD.
 */
export interface SpiderLoader {
  /** Returns the names of all spiders: for `webloom list`, `webloom check`, and where a name is not found. */
  list(): Awaitable<readonly string[]>
  /** Returns the class of the spider of that name; undefined when there is none, and the command then lists the names with WL_SPIDER_NOT_FOUND. */
  load(name: string): Awaitable<SpiderClass | undefined>
}

interface SpiderLoaderClass {
  new (): SpiderLoader
  fromSettings?(settings: Settings): SpiderLoader
}

/** The loader that the settings name; undefined for the project's own files. */
export async function ownSpiderLoader(
  config: LoadedConfig,
  command: WrittenSettings = {},
): Promise<SpiderLoader | undefined> {
  const layers = { config: config.settings, environment: environmentSettings(process.env), command }
  const settings = Settings.fromLayers(layers, { config: config.path })
  const chosen = settings.get('SPIDER_LOADER_CLASS')
  if (chosen === 'project' || chosen === null) return undefined
  const Class = (await componentClass<SpiderLoader>(
    'SPIDER_LOADER_CLASS',
    chosen,
    ['project'],
    config.folder,
  )) as unknown as SpiderLoaderClass
  if ('from_settings' in Class) {
    throw new UsageError(
      'WL_COMPONENT_LOAD',
      `the spider loader ${Class.name} has static from_settings; here it is called fromSettings`,
    )
  }
  if ('fromCrawler' in Class) {
    throw new UsageError(
      'WL_COMPONENT_LOAD',
      `the spider loader ${Class.name} (SPIDER_LOADER_CLASS) has static fromCrawler; there is no crawl yet when spiders are looked for: write  static fromSettings(settings)`,
    )
  }
  const within = { timeoutMs: Math.min(settings.getMs('COMPONENT_TIMEOUT'), LOADING_MS_MAX) }
  const loader = await told(Class.name, within, 'fromSettings', async () =>
    loaderOnly(await madeOf(Class, settings), Class),
  )
  requireMethods(loader, ['list', 'load'], 'spider loader', 'SPIDER_LOADER_CLASS')
  const { name } = Class
  return {
    list: () => told(name, within, 'list()', async () => namesOnly(await loader.list())),
    load: (spider) =>
      told(name, within, `load(${JSON.stringify(spider)})`, async () =>
        spiderOnly(await loader.load(spider), spider),
      ),
  }
}

function madeOf(Class: SpiderLoaderClass, settings: Settings): Awaitable<SpiderLoader> {
  return Class.fromSettings ? Class.fromSettings(settings) : new Class()
}

function loaderOnly(made: unknown, { name }: SpiderLoaderClass): SpiderLoader {
  if (typeof made === 'object' && made !== null) return made as SpiderLoader
  throw new Error(
    `fromSettings of ${name} returned ${valueShown(made)}; expected the loader, as in  return new this(…)`,
  )
}

function namesOnly(listed: unknown): readonly string[] {
  if (Array.isArray(listed) && listed.every((name) => typeof name === 'string')) return listed
  const wrong = Array.isArray(listed) ? listed.find((name) => typeof name !== 'string') : listed
  throw new Error(
    `list() gave ${Array.isArray(listed) ? 'a list with ' : ''}${valueShown(wrong)}; expected a list of names, as ['books', 'quotes']`,
  )
}

function spiderOnly(loaded: unknown, name: string): SpiderClass | undefined {
  if (loaded === undefined || isSpiderClass(loaded)) return loaded
  throw new Error(`load(${JSON.stringify(name)}) gave ${typeof loaded}, and no subclass of Spider`)
}

/** Settles as `act` does; one that never settles would leave the command without a word. */
async function told<T>(loader: string, times: LoadTimes, what: string, act: () => Promise<T>): Promise<T> {
  try {
    return await loadedInTime(
      `${what} of the spider loader ${loader} (SPIDER_LOADER_CLASS) has not settled`,
      act(),
      times,
    )
  } catch (cause) {
    if (cause instanceof NotLoadedInTime) throw new UsageError('WL_SPIDER_LOAD', cause.message, { cause })
    const reason = cause instanceof Error ? cause.message : `it threw ${valueShown(cause)}`
    throw new UsageError(
      'WL_SPIDER_LOAD',
      `the spider loader ${loader} (SPIDER_LOADER_CLASS) failed: ${reason}`,
      {
        cause,
      },
    )
  }
}
