/** The options that commands share which run a spider, or look at single pages. Every command line reads them: nothing heavy may come along. */

import type { PageFlags } from '../authoring/page-workbench.ts'
import type { CrawlFlags } from '../loading/crawl-flags.ts'
import { flag, type OptionsFor, SPIDER_OPTIONS, value, values } from './command.ts'

export const CRAWL_OPTIONS: OptionsFor<CrawlFlags> = {
  ...SPIDER_OPTIONS,
  output: values('-o, --output <file[:format]>', 'append items to this file (-: standard output)'),
  overwriteOutput: values(
    '-O, --overwrite-output <file[:format]>',
    'write items to this file, and replace what is in it',
  ),
  loglevel: value('-L, --loglevel <level>', 'DEBUG, INFO, WARNING or ERROR (default INFO)'),
  logfile: value('--logfile <file>', 'write log lines there instead of to stderr'),
  nolog: flag('--nolog', 'write no log lines'),
  statsFile: value('--stats-file <file>', 'write the final stats of this process there as JSON'),
}

export const PAGE_OPTIONS: OptionsFor<PageFlags> = {
  spider: value(
    '--spider <name or file>',
    'fetch as this spider does (default: the project’s spider for this host)',
  ),
  redirect: flag('--no-redirect', 'show redirects instead of following them'),
  browser: flag('--browser', 'render the page in a browser first (needs @webloom/browser)'),
  ...SPIDER_OPTIONS,
  loglevel: value('-L, --loglevel <level>', 'DEBUG, INFO, WARNING or ERROR (default WARNING)'),
  nolog: flag('--nolog', 'write no log lines'),
}
