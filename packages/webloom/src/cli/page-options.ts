/** The options that commands share which look at single pages. Every command line reads them: nothing heavy may come along. */

import type { PageFlags } from '../authoring/page-workbench.ts'
import { flag, type OptionsFor, SPIDER_OPTIONS, value } from './command.ts'

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
