/** What a command line says of a spider: its settings and its arguments. */

import { environmentSettings, type SettingsLayers, type SettingsPlaces, UsageError } from '@webloom/core'
import { parseOutputArgument } from '@webloom/spider'
import type { LoadedConfig } from './config.ts'

/** The flags of `crawl` and `runspider`, named as Scrapy's. */
export interface CrawlFlags {
  readonly set?: readonly string[]
  readonly argument?: readonly string[]
  readonly output?: readonly string[]
  readonly overwriteOutput?: readonly string[]
  readonly loglevel?: string
  readonly logfile?: string
  readonly nolog?: boolean
  readonly statsFile?: string
}

/** Where settings are written, besides a spider's own. */
export interface WrittenLayers {
  readonly layers: Omit<SettingsLayers, 'spider'>
  readonly places: SettingsPlaces
}

/** The settings of the config file, of the environment and of the command line. */
export function settingsLayers(flags: CrawlFlags, config: LoadedConfig | undefined): WrittenLayers {
  return {
    layers: {
      config: config?.settings ?? {},
      environment: environmentSettings(process.env),
      command: commandLayer(flags),
    },
    places: config ? { config: config.path } : {},
  }
}

/** What the flags say as settings of the command layer. */
function commandLayer(flags: CrawlFlags): NonNullable<SettingsLayers['command']> {
  const feeds = [
    ...(flags.output ?? []).map((text) => parseOutputArgument(text, false)),
    ...(flags.overwriteOutput ?? []).map((text) => parseOutputArgument(text, true)),
  ]
  return {
    ...givenSettings(flags),
    ...(feeds.length > 0 && {
      FEEDS: Object.fromEntries(
        feeds.map(({ uri, format, overwrite }) => [uri, { ...(format && { format }), overwrite }]),
      ),
    }),
    ...(flags.loglevel !== undefined && { LOG_LEVEL: flags.loglevel }),
    ...(flags.logfile !== undefined && { LOG_FILE: flags.logfile }),
    ...(flags.nolog && { LOG_ENABLED: false }),
  }
}

/** Returns the settings of `-s` alone. */
export function givenSettings(flags: Pick<CrawlFlags, 'set'>): Record<string, string> {
  return pairs(flags.set, '-s', 'NAME=VALUE')
}

export function spiderArguments(flags: CrawlFlags): Record<string, string> {
  return pairs(flags.argument, '-a', 'name=value')
}

function pairs(texts: readonly string[] | undefined, flag: string, form: string): Record<string, string> {
  return Object.fromEntries(
    (texts ?? []).map((text) => {
      const equals = text.indexOf('=')
      if (equals > 0) return [text.slice(0, equals), text.slice(equals + 1)]
      throw new UsageError('WL_USAGE', `${flag} ${text}: expected ${flag} ${form}`)
    }),
  )
}
