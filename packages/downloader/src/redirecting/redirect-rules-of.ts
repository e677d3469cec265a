import type { Crawler } from '@webloom/core'
import type { RedirectRules } from './redirect-request.ts'

/** Returns the settings' rules for redirects by Location and by `<meta>`. */
export function redirectRulesOf({ settings, stats, logger }: Crawler): RedirectRules {
  return {
    timesMax: settings.getInt('REDIRECT_MAX_TIMES'),
    urlLengthMax: settings.getInt('REDIRECT_MAX_URL_LENGTH'),
    priorityAdjust: settings.getInt('REDIRECT_PRIORITY_ADJUST'),
    ...(settings.getBool('REFERER_ENABLED') && { referrerPolicy: settings.get('REFERRER_POLICY') }),
    stats,
    logger,
  }
}
