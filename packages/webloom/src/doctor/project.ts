/** The project's config and settings, and how its crawls appear to others. */

import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { SETTINGS_TABLE, Settings, SettingsError, WebloomError, type WrittenSettings } from '@webloom/core'
import { createSpider } from '@webloom/spider'
import { configHere, type LoadedConfig } from '../loading/config.ts'
import { type CrawlFlags, settingsLayers, spiderArguments } from '../loading/crawl-flags.ts'
import { namedSpider } from '../loading/named-spider.ts'
import { shownPath } from '../loading/source-place.ts'
import type { CheckResult, CheckResults } from './check-result.ts'

export interface CheckedProject {
  readonly settings: Settings
  /** Of the spider that was named. */
  readonly spider?: string
  readonly results: CheckResults
}

/** Reads config and settings as a crawl does, those of a spider if one is named; what is wrong is a result. */
export async function checkProject(name: string | undefined, flags: CrawlFlags): Promise<CheckedProject> {
  try {
    const { config, spider, customSettings = {} } = await loaded(name, flags)
    const { layers, places } = settingsLayers(flags, config)
    const settings = Settings.fromLayers({ ...layers, spider: customSettings }, places)
    const where =
      config && existsSync(config.path) ? shownPath(config.path) : 'no webloom.config.ts here or above'
    return {
      settings,
      ...(spider !== undefined && { spider }),
      results: [
        ...(settings.problems().length === 0 ? [settingsRead(where, settings)] : []),
        ...settings.problems().map((found) => ({ check: 'settings', state: 'fail', found }) as const),
        ...settings.warnings().map((found) => ({ check: 'settings', state: 'warn', found }) as const),
      ],
    }
  } catch (error) {
    if (!(error instanceof WebloomError)) throw error
    // What the environment and the flags say is known all the same.
    const { layers } = settingsLayers(flags, undefined)
    const found = error instanceof SettingsError ? error.problems.join('; ') : error.message
    return { settings: Settings.fromLayers(layers), results: [{ check: 'settings', state: 'fail', found }] }
  }
}

async function loaded(name: string | undefined, flags: CrawlFlags): Promise<Loaded> {
  if (name === undefined) return { config: await configHere() }
  const { Class, config } = await namedSpider(name, flags)
  const spider = createSpider(Class, spiderArguments(flags))
  const customSettings = (spider.customSettings ?? {}) as WrittenSettings
  return { config, spider: spider.name, customSettings }
}

interface Loaded {
  readonly config: LoadedConfig | undefined
  readonly spider?: string
  readonly customSettings?: WrittenSettings
}

function settingsRead(where: string, settings: Settings): CheckResult {
  const count = settings.namesSet().length
  return { check: 'settings', state: 'ok', found: `${where}; ${count} set, the others have their defaults` }
}

/** Whether sites are asked what may be fetched, and know whom to write to. */
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
