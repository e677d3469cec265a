/** The project's config and settings, and how its crawls appear to others. */

import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import {
  environmentVariable,
  SETTINGS_TABLE,
  Settings,
  SettingsError,
  silentLogger,
  unreadVariables,
  WebloomError,
  type WrittenSettings,
} from '@webloom/core'
import { createSpider, Spider, type SpiderClass } from '@webloom/spider'
import { assemble } from '../assembly/assemble.ts'
import { crawlBaseOf } from '../assembly/crawl-base.ts'
import { configHere, type LoadedConfig } from '../loading/config.ts'
import { type CrawlFlags, givenSettings, settingsLayers, spiderArguments } from '../loading/crawl-flags.ts'
import { namedSpider } from '../loading/named-spider.ts'
import { shownPath } from '../loading/source-place.ts'
import { loadProjectSpiders } from '../loading/spider-loader.ts'
import type { CheckResult, CheckResults } from './check-result.ts'

export interface CheckedProject {
  readonly settings: Settings
  /** Of the spider that was named. */
  readonly spider?: string
  readonly results: CheckResults
}

/**
 * Reads config and settings as a crawl does, those of a spider if one is named, and puts a crawl together, which opens nothing;
 * what is wrong is a result.
 */
export async function checkProject(name: string | undefined, flags: CrawlFlags): Promise<CheckedProject> {
  const failures: CheckResult[] = []
  const config = await tried(failures, configHere)
  const named = name === undefined ? undefined : await tried(failures, () => loadedSpider(name, flags))
  const { layers, places } = settingsLayers(flags, config)
  const settings = Settings.fromLayers({ ...layers, spider: named?.customSettings ?? {} }, places)
  failures.push(...settings.problems().map((found) => ({ check: 'settings', state: 'fail', found }) as const))
  if (failures.length === 0)
    await tried(failures, () => putTogether(named?.Class ?? AnySpider, flags, config))
  return {
    settings,
    ...(named && { spider: named.name }),
    results: [
      ...(failures.length === 0 ? [settingsRead(config, settings)] : failures),
      ...(name === undefined && config && existsSync(config.path) ? await checkSpiders(config, flags) : []),
      ...settings.warnings().map((found) => ({ check: 'settings', state: 'warn', found }) as const),
      ...unread(),
    ],
  }
}

/** A crawl cannot tell: another program's variable may have the name of a setting. */
function unread(): CheckResults {
  const names = SETTINGS_TABLE.filter(({ use }) => use === 'used').map(({ name }) => name)
  return unreadVariables(process.env, names).map((name) => ({
    check: 'settings',
    state: 'warn',
    found: `${name} in the environment sets nothing: it needs a prefix there`,
    type: `export ${environmentVariable(name)}="$${name}"`,
  }))
}

/** Undefined when it throws an error of ours, which is then among the failures. */
async function tried<T>(failures: CheckResult[], look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof WebloomError)) throw error
    const problems = error instanceof SettingsError ? error.problems : [error.message]
    failures.push(...problems.map((found) => ({ check: 'settings', state: 'fail', found }) as const))
    return undefined
  }
}

interface LoadedSpider {
  readonly Class: SpiderClass
  readonly name: string
  readonly customSettings: WrittenSettings
}

async function loadedSpider(name: string, flags: CrawlFlags): Promise<LoadedSpider> {
  const { Class } = await namedSpider(name, flags)
  const spider = createSpider(Class, spiderArguments(flags))
  return { Class, name: spider.name, customSettings: (spider.customSettings ?? {}) as WrittenSettings }
}

/** Stands for a spider where none is named. */
class AnySpider extends Spider {
  override name = 'doctor'
}

/** Finds what no table of settings knows: feeds, filters and components that cannot be made. */
async function putTogether(
  Class: SpiderClass,
  flags: CrawlFlags,
  config: LoadedConfig | undefined,
): Promise<void> {
  const crawl = await assemble(Class, { ...crawlBaseOf(flags, config), createLogger: () => silentLogger })
  await crawl.letGo()
}

/** Loads all spiders of the project, as `webloom list` does, and reads their own settings. */
async function checkSpiders(config: LoadedConfig, flags: CrawlFlags): Promise<CheckResults> {
  const { spiders, problems } = await loadProjectSpiders(config, spiderArguments(flags), givenSettings(flags))
  const settingsOf = (customSettings: WrittenSettings) => {
    const { layers, places } = settingsLayers(flags, config)
    return Settings.fromLayers({ ...layers, spider: customSettings }, places)
  }
  const failures = [
    ...problems,
    ...spiders.flatMap(({ name, Class }) =>
      ownProblems(name, () => createSpider(Class, spiderArguments(flags)), settingsOf),
    ),
  ]
  if (failures.length > 0) return failures.map((found) => ({ check: 'spiders', state: 'fail', found }))
  const names = spiders.map(({ name }) => name)
  if (names.length === 0)
    return [
      {
        check: 'spiders',
        state: 'info',
        found: 'there are none yet',
        type: 'webloom genspider <name> <site>',
      },
    ]
  return [{ check: 'spiders', state: 'ok', found: `${names.length} can be loaded: ${names.join(', ')}` }]
}

/** What is wrong with the settings that a spider has besides those of the project. */
function ownProblems(
  name: string,
  makeSpider: () => Spider,
  settingsOf: (customSettings: WrittenSettings) => Settings,
): string[] {
  try {
    const own = (makeSpider().customSettings ?? {}) as WrittenSettings
    const common = new Set(settingsOf({}).problems())
    return settingsOf(own)
      .problems()
      .filter((problem) => !common.has(problem))
      .map((problem) => `${name}: ${problem}`)
  } catch (error) {
    return [`${name}: ${(error as Error).message}`]
  }
}

function settingsRead(config: LoadedConfig | undefined, settings: Settings): CheckResult {
  const where =
    config && existsSync(config.path) ? shownPath(config.path) : 'no webloom.config.ts here or above'
  const count = settings.namesSet().length
  return { check: 'settings', state: 'ok', found: `${where}; ${count} set, the others have their defaults` }
}

/** Checks whether sites are asked what may be fetched, and know whom to write to. */
export function checkManners(settings: Settings): CheckResults {
  const agent = settings.getString('USER_AGENT')
  const isDefault = isDeepStrictEqual(
    agent,
    SETTINGS_TABLE.find(({ name }) => name === 'USER_AGENT')?.default,
  )
  return [
    settings.getBool('ROBOTSTXT_OBEY')
      ? { check: 'robots.txt', state: 'ok', found: 'is obeyed (ROBOTSTXT_OBEY)' }
      : {
          check: 'robots.txt',
          state: 'info',
          found: 'is not read: ROBOTSTXT_OBEY is off',
          type: 'webloom settings --explain ROBOTSTXT_OBEY',
        },
    isDefault
      ? {
          check: 'user agent',
          state: 'info',
          found: `USER_AGENT is ${agent}: it does not say who you are, and sites refuse such crawlers first`,
          type: "export WEBLOOM_USER_AGENT='my-crawler (+https://example.com/crawler)'",
        }
      : { check: 'user agent', state: 'ok', found: agent },
  ]
}
