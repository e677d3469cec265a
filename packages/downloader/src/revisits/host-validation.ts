import type { AnswerHeaders, KnownValidators, PageValidation, ValidatedAnswer, Visit } from '@webloom/core'
import { conditionalHeaders, type PageValidators, sameValidators, validatorsOf } from './page-validators.ts'
import { ValidatorTrust } from './validator-trust.ts'

export interface HostValidationOptions {
  /** Called when a host is found to answer 304 for pages that have changed. */
  readonly onLied: (host: string) => void
}

const HOSTS_MAX = 10_000

/** Asks for pages by their validators, as far as their hosts proved honest. What is learned of a host is learned by this process. */
export class HostValidation implements PageValidation {
  readonly #options: HostValidationOptions
  readonly #hosts = new Map<string, ValidatorTrust>()
  readonly #liars = new Set<string>()

  constructor(options: HostValidationOptions) {
    this.#options = options
  }

  /** These hosts lied to another process, or in another run. */
  distrust(hosts: readonly string[]): void {
    for (const host of hosts) this.#liars.add(host)
  }

  headersFor(url: string, visit: Visit): Readonly<Record<string, string>> {
    const validators = validatorsIn(visit)
    const host = hostOf(url)
    if (isNone(validators) || this.#liars.has(host)) return {}
    return this.#trustIn(host).ask(visit.isOutdated) === 'conditional' ? conditionalHeaders(validators) : {}
  }

  answered(url: string, answer: ValidatedAnswer): KnownValidators {
    const { previous, headers, isConditional, notModified, changed } = answer
    const host = hostOf(url)
    const [known, next] = [validatorsIn(previous), validatorsOf(headers)]
    if (isNone(known) || this.#liars.has(host)) return this.first(headers, host)
    const trust = this.#trustIn(host)
    const kept = trust.learn({
      asked: isConditional ? 'conditional' : 'whole',
      wasOutdated: previous.isOutdated,
      notModified,
      changed,
      sameValidators: sameValidators(known, next),
    })
    if (trust.lied) {
      this.#liars.add(host)
      this.#options.onLied(host)
    }
    if (kept === 'outdated') {
      const { etag, lastModifiedAt } = previous
      return {
        ...(etag !== undefined && { etag }),
        ...(lastModifiedAt !== undefined && { lastModifiedAt }),
        isOutdated: true,
      }
    }
    return this.first(headers, host)
  }

  first(headers: AnswerHeaders, host?: string): KnownValidators {
    if (host !== undefined && this.#liars.has(host)) return {}
    const { etag, lastModified } = validatorsOf(headers)
    return {
      ...(etag !== undefined && { etag }),
      ...(lastModified !== undefined && { lastModifiedAt: Date.parse(lastModified) }),
    }
  }

  #trustIn(host: string): ValidatorTrust {
    const known = this.#hosts.get(host)
    if (known) return known
    // What is forgotten is learned again.
    if (this.#hosts.size >= HOSTS_MAX) this.#hosts.clear()
    const trust = new ValidatorTrust()
    this.#hosts.set(host, trust)
    return trust
  }
}

function validatorsIn({ etag, lastModifiedAt }: Visit): PageValidators {
  return {
    ...(etag !== undefined && { etag }),
    ...(lastModifiedAt !== undefined && { lastModified: new Date(lastModifiedAt).toUTCString() }),
  }
}

function isNone({ etag, lastModified }: PageValidators): boolean {
  return etag === undefined && lastModified === undefined
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : ''
}
