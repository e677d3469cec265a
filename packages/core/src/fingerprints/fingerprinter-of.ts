import { valueShown } from '@webloom/url'
import type { StatsCollector } from '../crawl/stats.ts'
import { SettingsError } from '../errors/errors.ts'
import { type Request, rememberedFingerprint } from '../requests/request.ts'
import type { Settings } from '../settings/settings.ts'
import {
  type Canonicalize,
  createFingerprinter,
  createUrlDigester,
  type FingerprintAlgorithm,
  type Fingerprinter,
  scrapyCanonical,
} from './fingerprint.ts'
import { urlNormalizer } from './url-normalizer.ts'
import { crawlUrlRules } from './url-rules-of.ts'

const ALGORITHMS: readonly string[] = [
  'scrapy',
  'scrapy-redis',
  'scrapy-2.6',
] satisfies FingerprintAlgorithm[]

/** Counts `fingerprint/not_normalized`. */
type Counter = Pick<StatsCollector, 'inc'>

/**
 * Returns the fingerprinter that FINGERPRINTER, FINGERPRINT_INCLUDE_HEADERS, FINGERPRINT_KEEP_FRAGMENTS and CANONICALIZER
 * ask for. It makes the ids of requests, and what a filter remembers unless DUPEFILTER_DIGEST says otherwise.
 *
 * @param auto what `auto` means for the chosen filter: the algorithm of the crawlers that know it
 */
export function fingerprinterOf(
  settings: Settings,
  auto: FingerprintAlgorithm,
  stats?: Counter,
): Fingerprinter {
  return remembered(settings, auto, () => makeFingerprinter(settings, auto, stats))
}

/** Returns the fingerprinter of DUPEFILTER_DIGEST, by which a filter remembers requests. */
export function filterFingerprinterOf(
  settings: Settings,
  auto: FingerprintAlgorithm,
  stats?: Counter,
): Fingerprinter {
  const digest = settings.get('DUPEFILTER_DIGEST')
  if (digest === 'fingerprint') return fingerprinterOf(settings, auto, stats)
  refuseWhatDigestsLeaveOut(settings, digest)
  return remembered(settings, digest, () => {
    const { canonicalize, named } = canonicalizerOf(settings, stats)
    const keepFragments = settings.getBool('FINGERPRINT_KEEP_FRAGMENTS')
    return named(createUrlDigester(digest, { keepFragments }, canonicalize, crawlUrlRules(settings)))
  })
}

// Filter and scheduler get the same one, so that a request's fingerprint is computed once.
const known = new WeakMap<Settings, Map<string, Fingerprinter>>()

function remembered(settings: Settings, which: string, make: () => Fingerprinter): Fingerprinter {
  const made = known.get(settings) ?? new Map<string, Fingerprinter>()
  known.set(settings, made)
  const fingerprinter = made.get(which) ?? make()
  made.set(which, fingerprinter)
  return fingerprinter
}

function makeFingerprinter(
  settings: Settings,
  auto: FingerprintAlgorithm,
  stats: Counter | undefined,
): Fingerprinter {
  const chosen = settings.get('FINGERPRINTER')
  if (typeof chosen === 'function') {
    refuseCanonicalizerBeside(settings)
    refuseUncallable(chosen as Callable)
    return {
      ...customFingerprinter(chosen as Callable),
      urlRules: crawlUrlRules(settings),
    }
  }
  const algorithm = chosen === 'auto' ? auto : String(chosen)
  if (!isAlgorithm(algorithm)) {
    throw new SettingsError([
      `FINGERPRINTER is ${valueShown(chosen)}; expected auto, ${ALGORITHMS.join(', ')} or a function (request) => string.${methodHint(chosen)}`,
    ])
  }
  const { canonicalize, named } = canonicalizerOf(settings, stats)
  const includeHeaders = settings.getList('FINGERPRINT_INCLUDE_HEADERS').map(String)
  const keepFragments = settings.getBool('FINGERPRINT_KEEP_FRAGMENTS')
  const options = { algorithm, includeHeaders, keepFragments }
  return named(createFingerprinter(options, canonicalize, crawlUrlRules(settings)))
}

type Callable = (request: Request) => unknown

/** Throws for functions that would fail for each request: a class, which needs `new`, and what answers with a Promise. */
function refuseUncallable(chosen: Callable): void {
  const name = chosen.name || 'without a name'
  if (isClass(chosen)) {
    const hint = methodHint(chosen.prototype, `new ${chosen.name || 'TheClass'}()`)
    throw new SettingsError([
      `FINGERPRINTER is the class ${name}; expected a function (request) => string, which is called with each request.${hint}`,
    ])
  }
  if (/^Async/.test(chosen.constructor.name) || chosen.constructor.name === 'GeneratorFunction') {
    throw new SettingsError([
      `FINGERPRINTER is the ${chosen.constructor.name} ${name}, whose answer is not a string; expected a function (request) => string that answers at once. Write it without async and *`,
    ])
  }
}

/** A class cannot be called; its `prototype` cannot be set, and a function's can. */
function isClass(chosen: Callable): boolean {
  return Object.getOwnPropertyDescriptor(chosen, 'prototype')?.writable === false
}

/** @param object how the object is written in code; absent for one that has no name there */
function methodHint(owner: unknown, object = 'theObject'): string {
  const method: unknown =
    typeof owner === 'object' && owner !== null ? Reflect.get(owner, 'fingerprint') : undefined
  return typeof method === 'function'
    ? ` It has the method fingerprint: write  export const byMethod = (request) => ${object}.fingerprint(request)  and set FINGERPRINTER to byMethod`
    : ''
}

function isAlgorithm(name: string): name is FingerprintAlgorithm {
  return ALGORITHMS.includes(name)
}

/** How URLs are compared, and the name of a fingerprinter that compares them so. */
interface Canonicalizer {
  readonly canonicalize: Canonicalize
  readonly named: (fingerprinter: Fingerprinter) => Fingerprinter
}

function canonicalizerOf(settings: Settings, stats: Counter | undefined): Canonicalizer {
  if (settings.get('CANONICALIZER') === 'scrapy')
    return { canonicalize: scrapyCanonical, named: (fingerprinter) => fingerprinter }
  const { name, normalize } = urlNormalizer(settings.getDict('NORMALIZE_URL_OPTIONS'))
  return {
    canonicalize(url, keepFragments, rules) {
      const normalized = normalize(url, keepFragments)
      if (normalized !== undefined) return normalized
      stats?.inc('fingerprint/not_normalized')
      return scrapyCanonical(url, keepFragments, rules)
    },
    named: (fingerprinter) => ({ ...fingerprinter, name: `${fingerprinter.name}+${name}` }),
  }
}

function refuseCanonicalizerBeside(settings: Settings): void {
  const canonicalizer = settings.get('CANONICALIZER')
  if (canonicalizer === 'scrapy') return
  throw new SettingsError([
    `CANONICALIZER is ${canonicalizer}, and FINGERPRINTER is a function, which is given the request and compares URLs in its own way; unset one of them`,
  ])
}

/** Throws for settings without effect, as here they would cost pages. */
function refuseWhatDigestsLeaveOut(settings: Settings, digest: string): void {
  const left = [
    ...(typeof settings.get('FINGERPRINTER') === 'function' ? ['FINGERPRINTER is a function'] : []),
    ...(settings.getList('FINGERPRINT_INCLUDE_HEADERS').length > 0
      ? ['FINGERPRINT_INCLUDE_HEADERS names headers']
      : []),
  ]
  if (left.length > 0) {
    throw new SettingsError(
      left.map(
        (what) =>
          `DUPEFILTER_DIGEST is ${digest}, which tells requests apart by their URLs alone, and ${what}; unset one of them`,
      ),
    )
  }
}

function customFingerprinter(make: Callable): Fingerprinter {
  const name = make.name || 'custom'
  const checked = (request: Request): string => {
    const fingerprint = make(request)
    if (typeof fingerprint !== 'string' || fingerprint === '') {
      throw new SettingsError([
        `FINGERPRINTER ${name} answered ${JSON.stringify(fingerprint)} for ${request}; expected a string that is not empty`,
      ])
    }
    return fingerprint
  }
  return {
    name,
    source: String(make),
    fingerprint: (request) => rememberedFingerprint(request, checked, checked),
  }
}
