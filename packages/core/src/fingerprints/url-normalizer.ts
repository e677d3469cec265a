/**
 * CANONICALIZER=normalize-url: the form in which URLs are compared, made by the npm library of that name.
 *
 * Two of the library's changes would lose pages, so they are not made here. In a query whose escapes are not UTF-8
 * (`?q=%E9` of a Latin-1 site) each becomes U+FFFD, and different words would be the same: such a URL keeps Scrapy's form.
 * And a URL that a server redirects from (`www.`, a slash at the end, http to https) does not count as its target unless
 * the options ask for that: the target would be dropped as seen, and neither of the two fetched.
 */

import { hash } from 'node:crypto'
import { didYouMean } from '@webloom/url'
import normalizeUrl, { type Options } from 'normalize-url'
import { SettingsError } from '../errors/errors.ts'
import type { SettingDict } from '../settings/setting-row.ts'
import { shownValue } from '../settings/setting-shown.ts'

/** Parameters that tell where a visitor came from, and nothing about the page. */
const TRACKING_PARAMETERS: readonly (RegExp | string)[] = [
  /^utm_\w+$/i,
  'dclid',
  'fbclid',
  'gbraid',
  'gclid',
  'msclkid',
  'twclid',
  'wbraid',
  'yclid',
]

const DEFAULTS: Options = {
  // URLs that differ in one of these may redirect to each other, or only one of them may work.
  stripWWW: false,
  removeTrailingSlash: false,
  stripAuthentication: false,
  // `?a` and `?a=` are the same, as in Scrapy.
  emptyQueryValue: 'always',
  removeQueryParameters: TRACKING_PARAMETERS,
}

export interface UrlNormalizer {
  /** Differs for normalizers with other options, as part of a fingerprinter's name. */
  readonly name: string
  /** Returns undefined when the library cannot take this URL, or would make it equal to other ones. */
  normalize(url: string, keepFragments: boolean): string | undefined
}

/** @param written NORMALIZE_URL_OPTIONS. Throws `SettingsError` that names everything that is wrong. */
export function urlNormalizer(written: SettingDict): UrlNormalizer {
  const options: Options = { ...DEFAULTS, ...readOptions(written) }
  const [without, withFragments] = [true, false].map((stripHash) => ({ stripHash, ...options }))
  return {
    name: Object.keys(written).length === 0 ? 'normalize-url' : `normalize-url/${digestOf(written)}`,
    normalize(url, keepFragments) {
      if (!isQueryUtf8(url)) return undefined
      try {
        return normalizeUrl(url, keepFragments ? withFragments : without)
      } catch {
        // Such a URL can nearly never be requested either. The caller counts it.
        return undefined
      }
    },
  }
}

function isQueryUtf8(url: string): boolean {
  const at = url.indexOf('?')
  if (at < 0 || !url.includes('%', at)) return true
  try {
    decodeURIComponent(url.slice(at))
    return true
  } catch {
    return false
  }
}

type Kind = 'true or false' | 'a text' | 'a list' | 'a list, true or false' | 'a function' | 'how'

const KINDS: Readonly<Record<keyof Options, Kind>> = {
  customProtocols: 'a list',
  defaultProtocol: 'a text',
  emptyQueryValue: 'how',
  forceHttp: 'true or false',
  forceHttps: 'true or false',
  keepQueryParameters: 'a list',
  normalizeProtocol: 'true or false',
  removeDirectoryIndex: 'a list, true or false',
  removeExplicitPort: 'true or false',
  removePath: 'true or false',
  removeQueryParameters: 'a list, true or false',
  removeSingleSlash: 'true or false',
  removeTrailingSlash: 'true or false',
  sortQueryParameters: 'true or false',
  stripAuthentication: 'true or false',
  stripHash: 'true or false',
  stripProtocol: 'true or false',
  stripTextFragment: 'true or false',
  stripWWW: 'true or false',
  transformPath: 'a function',
}

const EXPECTED: Readonly<Record<Kind, string>> = {
  'true or false': 'true or false',
  'a text': 'a text',
  'a list': 'a list of texts; "/…/i" is a regular expression',
  'a list, true or false': 'true, false, or a list of texts; "/…/i" is a regular expression',
  'a function': 'a function, which only a config file in TypeScript can give',
  how: '"preserve", "always" or "never"',
}

function readOptions(written: SettingDict): Options {
  const problems: string[] = []
  const options: Record<string, unknown> = {}
  for (const [name, raw] of Object.entries(written)) {
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name as keyof Options] : undefined
    if (kind === undefined) {
      problems.push(
        `NORMALIZE_URL_OPTIONS has ${JSON.stringify(name)}, which normalize-url does not know.${didYouMean(name, Object.keys(KINDS))}`,
      )
      continue
    }
    const value = Array.isArray(raw) ? raw.map(patternOf) : raw
    if (fits(kind, value)) options[name] = value
    else
      problems.push(
        `NORMALIZE_URL_OPTIONS.${name} is ${shownValue('NORMALIZE_URL_OPTIONS', raw)}; expected ${EXPECTED[kind]}`,
      )
  }
  if (problems.length === 0) problems.push(...refusedByLibrary(options))
  if (problems.length > 0) throw new SettingsError(problems)
  return options
}

/** Returns the pattern of a text between slashes, as JSON has no regular expressions. Any other text stays a text. */
function patternOf(entry: unknown): unknown {
  const [, source, flags] = (typeof entry === 'string' && /^\/(.+)\/([a-z]*)$/.exec(entry)) || []
  if (source === undefined) return entry
  try {
    return new RegExp(source, flags)
  } catch {
    return undefined
  }
}

function fits(kind: Kind, value: unknown): boolean {
  switch (kind) {
    case 'true or false':
      return typeof value === 'boolean'
    case 'a text':
      return typeof value === 'string'
    case 'a list, true or false':
      return typeof value === 'boolean' || isPatterns(value)
    case 'a list':
      return isPatterns(value)
    case 'a function':
      return typeof value === 'function' || value === false
    case 'how':
      return value === 'preserve' || value === 'always' || value === 'never'
  }
}

function isPatterns(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string' || entry instanceof RegExp)
}

/** Returns problems that only the library finds, such as options that contradict each other. */
function refusedByLibrary(options: Options): string[] {
  try {
    normalizeUrl('http://example.com/a?b=1', options)
    return []
  } catch (error) {
    return [`NORMALIZE_URL_OPTIONS are refused by normalize-url: ${(error as Error).message}`]
  }
}

/** Returns a digest of the options, as other options make other fingerprints. */
function digestOf(options: SettingDict): string {
  const entries = Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1))
  const text = JSON.stringify(entries, (_key, value) =>
    value instanceof RegExp || typeof value === 'function' ? String(value) : value,
  )
  return hash('sha1', text).slice(0, 8)
}
