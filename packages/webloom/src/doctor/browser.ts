/** What would render the pages that ask for a browser by `meta.browser`. Nothing is started. */

import { CloseSpider, type Settings, withoutUrlSecrets } from '@webloom/core'
import { installedBrowserPackage } from '../browser/browser-handler.ts'
import type { CheckResult } from './check-result.ts'

const check = 'browser'

/** Looks for a browser only where the package is installed: without it, none is needed. */
export async function checkBrowser(
  settings: Settings,
  packageHere = installedBrowserPackage,
): Promise<CheckResult> {
  const browsers = await packageHere()
  if (browsers === undefined) {
    const found = 'none is used: pages that need one (meta.browser) need the package @webloom/browser'
    return { check, state: 'info', found, type: 'npm install @webloom/browser' }
  }
  try {
    const here = withoutUrlSecrets(browsers.browserHere(browsers.browserSettingsOf(settings)))
    return { check, state: 'ok', found: `${here} renders the pages that need one (meta.browser)` }
  } catch (error) {
    if (!(error instanceof CloseSpider)) throw error
    return missing(error)
  }
}

/** In the words in which a crawl would end; they name a line to type, or the setting that is in the way. */
function missing({ message }: CloseSpider): CheckResult {
  const [found = '', line] = message.split('\n')
  const [setting = 'BROWSER_EXECUTABLE'] = /BROWSER_[A-Z_]+/.exec(message) ?? []
  return { check, state: 'warn', found, type: line?.trim() ?? `webloom settings --explain ${setting}` }
}
