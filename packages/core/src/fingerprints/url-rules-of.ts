/** The URL rules of requests and crawls. */

import { NEWEST_URL_RULES, type UrlRules } from '@webloom/url'
import { SettingsError } from '../errors/errors.ts'
import { knownUrlOf, type Request } from '../requests/request.ts'
import { safeUrlFor } from '../requests/request-url.ts'
import type { Settings } from '../settings/settings.ts'

/** Returns the rules by which the request's URL was made safe; the newest ones without a request. */
export function urlRulesOf(request: Request | undefined): UrlRules {
  return (request && knownUrlOf(request)?.rules) ?? NEWEST_URL_RULES
}

/** Returns the request's URL by these rules, whatever its own are. */
export function urlUnder(request: Request, rules: UrlRules): string {
  const known = knownUrlOf(request)
  if (known === undefined || known.rules === rules || known.rules === undefined) return request.url
  return safeUrlFor(known.written, request.encoding, rules)
}

/**
 * The rules of one crawl's URLs: those of its settings, until a filter or a JOBDIR is opened that was begun with others.
 * Stored fingerprints are useful only with their own rules.
 */
export class CrawlUrlRules {
  #current: UrlRules
  readonly #isSet: boolean
  #followed: string | undefined

  /** @param isSet true when the settings name the rules; then no filter may have others */
  constructor(rules: UrlRules = NEWEST_URL_RULES, isSet = false) {
    this.#current = rules
    this.#isSet = isSet
  }

  /** The rules by which the crawl's URLs are made safe and canonical now. */
  get current(): UrlRules {
    return this.#current
  }

  /**
   * Takes the rules of stored fingerprints. Throws `SettingsError` when the settings name others.
   *
   * @param place where the fingerprints are stored, for the message
   * @param wayOut what the user can do, for the message
   */
  follow(noted: UrlRules, place: string, wayOut: string): void {
    const differs = noted !== this.#current
    if (differs && (this.#isSet || this.#followed !== undefined)) {
      const own = this.#isSet
        ? `URL_RULES is ${this.#current}`
        : `${this.#followed} goes by the rules of ${this.#current}`
      throw new SettingsError([
        `${own}, and ${place} was begun by the rules of ${noted}: about one odd URL in four has another fingerprint, and its page would be fetched again. Leave URL_RULES unset, or set URL_RULES=${noted}; or ${wayOut}`,
      ])
    }
    this.#current = noted
    this.#followed = place
  }
}

/** What is noted of a fingerprinter beside its fingerprints. */
interface Noted {
  readonly name: string
  readonly urlRules?: CrawlUrlRules
}

/** Returns the note beside stored fingerprints: how they were made, and by which rules. Rules 2.4 were noted as none. */
export function fingerprinterNote({ name, urlRules }: Noted): string {
  const rules = urlRules?.current
  return rules === undefined || rules === 'w3lib-2.4' ? name : `${name}+${rules}`
}

/** Returns what a filter's description says of its fingerprints. */
export function fingerprinterShown({ name, urlRules }: Noted): {
  fingerprinter: string
  urlRules?: UrlRules
} {
  return { fingerprinter: name, ...(urlRules && { urlRules: urlRules.current }) }
}

/** Returns the fingerprinter's name in such a note. */
export function fingerprinterOfNote(note: string): string {
  return note.endsWith(`+${NEWEST_URL_RULES}`) ? note.slice(0, -`+${NEWEST_URL_RULES}`.length) : note
}

/** Returns the rules in such a note. */
export function urlRulesOfNote(note: string): UrlRules {
  return note.endsWith(`+${NEWEST_URL_RULES}`) ? NEWEST_URL_RULES : 'w3lib-2.4'
}

const known = new WeakMap<Settings, CrawlUrlRules>()

/** Returns the rules of the crawl with these settings, the same object for all callers. */
export function crawlUrlRules(settings: Settings): CrawlUrlRules {
  const rules =
    known.get(settings) ?? new CrawlUrlRules(settings.get('URL_RULES'), settings.isSet('URL_RULES'))
  known.set(settings, rules)
  return rules
}
