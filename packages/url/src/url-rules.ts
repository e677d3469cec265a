import { WebloomError } from './errors.ts'
import { valueShown } from './options/known-options.ts'

/**
 * Whose rules URLs are made safe and compared by: those of w3lib 2.4 or of 2.5, which pip has installed since 2026. They
 * make other fingerprints of about one odd URL in four, so a set of seen requests is of use only with its own rules.
 *
 * What 2.5 does otherwise: `\` is `/` in the schemes of the web, `http://h?x` gets its slash, `;` no longer separates
 * query parameters, dot segments are resolved, `%25` and `%3B` of a path stay, IPv6 addresses are written in their short
 * form, and a port that is not a number up to 65535 is refused when URLs are compared, too.
 */
export type UrlRules = 'w3lib-2.4' | 'w3lib-2.5'

/** Throws WL_USAGE: other rules would be taken for the newest, and make other fingerprints than those that were meant. */
export function checkRules(rules: unknown, of: string): void {
  if (rules === undefined || rules === 'w3lib-2.5' || rules === 'w3lib-2.4') return
  throw new WebloomError(
    'WL_USAGE',
    `rules of ${of} is ${valueShown(rules)}; expected "w3lib-2.4" or "w3lib-2.5"`,
  )
}

/** What counts where nothing else is said. */
export const NEWEST_URL_RULES: UrlRules = 'w3lib-2.5'

/** The URL living standard's special schemes. */
export const SPECIAL_SCHEMES: ReadonlySet<string> = new Set(['ftp', 'file', 'http', 'https', 'ws', 'wss'])
