import {
  type AnswerHeaders,
  type KnownHosts,
  type KnownValidators,
  type PageValidation,
  pageHost,
  type ValidatedAnswer,
  type Visit,
} from '@webloom/core'
import { conditionalHeaders, type PageValidators, sameValidators, validatorsOf } from './page-validators.ts'
import { ValidatorTrust } from './validator-trust.ts'

export interface HostValidationOptions {
  readonly hosts: KnownHosts
  /** Called when a host is found to answer 304 for pages that have changed. */
  readonly onLied: (host: string) => void
}

/** Asks for pages by their validators, as far as their hosts proved honest. */
export class HostValidation implements PageValidation {
  readonly #options: HostValidationOptions

  constructor(options: HostValidationOptions) {
    this.#options = options
  }

  headersFor(url: string, visit: Visit): Readonly<Record<string, string>> {
    const validators = validatorsIn(visit)
    const host = pageHost(url)
    const trust = this.#trustIn(host)
    if (isNone(validators) || trust.lied) return {}
    const asked = trust.ask(visit.isOutdated, visit.visits)
    this.#options.hosts.learn(host, { validators: trust.record })
    return asked === 'conditional' ? conditionalHeaders(validators) : {}
  }

  answered(url: string, answer: ValidatedAnswer): KnownValidators {
    const { previous, headers, isConditional, isDoubted, notModified, changed } = answer
    const host = pageHost(url)
    const [known, next] = [validatorsIn(previous), validatorsOf(headers)]
    const trust = this.#trustIn(host)
    if (trust.lied) return {}
    if (isNone(known)) return this.first(headers)
    const kept = trust.learn({
      asked: isConditional ? 'conditional' : 'whole',
      wasOutdated: previous.isOutdated,
      isDoubted,
      notModified,
      changed,
      sameValidators: sameValidators(known, next),
    })
    this.#options.hosts.learn(host, { validators: trust.record })
    if (trust.lied) {
      this.#options.onLied(host)
      return {}
    }
    if (kept === 'outdated') {
      const { etag, lastModifiedAt } = previous
      return {
        ...(etag !== undefined && { etag }),
        ...(lastModifiedAt !== undefined && { lastModifiedAt }),
        isOutdated: true,
      }
    }
    return this.first(headers)
  }

  first(headers: AnswerHeaders): KnownValidators {
    const { etag, lastModified } = validatorsOf(headers)
    return {
      ...(etag !== undefined && { etag }),
      ...(lastModified !== undefined && { lastModifiedAt: Date.parse(lastModified) }),
    }
  }

  #trustIn(host: string): ValidatorTrust {
    return new ValidatorTrust(this.#options.hosts.of(host).validators)
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
