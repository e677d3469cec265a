import { SettingsError } from './errors.ts'
import { createFingerprinter, type FingerprintAlgorithm, type Fingerprinter } from './fingerprint.ts'
import { type Request, rememberedFingerprint } from './request.ts'
import type { Settings } from './settings/settings.ts'

const ALGORITHMS: readonly string[] = [
  'scrapy',
  'scrapy-redis',
  'scrapy-2.6',
] satisfies FingerprintAlgorithm[]

/**
 * The fingerprinter that FINGERPRINTER, FINGERPRINT_INCLUDE_HEADERS and FINGERPRINT_KEEP_FRAGMENTS ask for.
 *
 * @param auto what `auto` means for the chosen filter: its own originals' algorithm
 */
export function fingerprinterOf(settings: Settings, auto: FingerprintAlgorithm): Fingerprinter {
  const made = known.get(settings) ?? new Map<FingerprintAlgorithm, Fingerprinter>()
  known.set(settings, made)
  const fingerprinter = made.get(auto) ?? makeFingerprinter(settings, auto)
  made.set(auto, fingerprinter)
  return fingerprinter
}

// Filter and scheduler get the same one, so that a request's fingerprint is computed once.
const known = new WeakMap<Settings, Map<FingerprintAlgorithm, Fingerprinter>>()

function makeFingerprinter(settings: Settings, auto: FingerprintAlgorithm): Fingerprinter {
  const chosen = settings.get('FINGERPRINTER')
  if (typeof chosen === 'function') return customFingerprinter(chosen as (request: Request) => unknown)
  const algorithm = chosen === 'auto' ? auto : String(chosen)
  if (!isAlgorithm(algorithm)) {
    throw new SettingsError([
      `FINGERPRINTER is ${JSON.stringify(chosen)}; expected auto, ${ALGORITHMS.join(', ')} or a function (request) => string`,
    ])
  }
  return createFingerprinter({
    algorithm,
    includeHeaders: settings.getList('FINGERPRINT_INCLUDE_HEADERS').map(String),
    keepFragments: settings.getBool('FINGERPRINT_KEEP_FRAGMENTS'),
  })
}

function isAlgorithm(name: string): name is FingerprintAlgorithm {
  return ALGORITHMS.includes(name)
}

function customFingerprinter(make: (request: Request) => unknown): Fingerprinter {
  const name = make.name || 'custom'
  const checked = (request: Request): string => {
    const fingerprint = make(request)
    if (typeof fingerprint !== 'string' || fingerprint === '') {
      throw new SettingsError([
        `FINGERPRINTER ${name} answered ${JSON.stringify(fingerprint)} for ${request}; expected a string`,
      ])
    }
    return fingerprint
  }
  return { name, fingerprint: (request) => rememberedFingerprint(request, checked, checked) }
}
