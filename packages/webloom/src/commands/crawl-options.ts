import { type SettingsLayers, UsageError } from '@webloom/core'
import { parseOutputArgument } from '@webloom/spider'
import { flag, type OptionsFor, SPIDER_OPTIONS, value, values } from '../cli/command.ts'

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

export const CRAWL_OPTIONS: OptionsFor<CrawlFlags> = {
  ...SPIDER_OPTIONS,
  output: values(
    '-o, --output <file[:format]>',
    'write items to this file, after what is in it (- is stdout)',
  ),
  overwriteOutput: values(
    '-O, --overwrite-output <file[:format]>',
    'write items to this file, in place of what is in it',
  ),
  loglevel: value('-L, --loglevel <level>', 'DEBUG, INFO, WARNING or ERROR (default INFO)'),
  logfile: value('--logfile <file>', 'write log lines there instead of to stderr'),
  nolog: flag('--nolog', 'write no log lines'),
  statsFile: value('--stats-file <file>', 'write the final stats there as JSON'),
}

/** What the flags say as settings of the command layer. */
export function commandLayer(flags: CrawlFlags): NonNullable<SettingsLayers['command']> {
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

/** Those of `-s` alone. */
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
