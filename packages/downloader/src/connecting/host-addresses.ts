/**
 * The addresses of hosts, as the operating system tells them (getaddrinfo: its hosts file, its name servers), and
 * remembered.
 *
 * Each question takes a thread of libuv's pool until it is answered, and a dead name may take half a minute. So all who ask
 * for one name share one question, no more than CONCURRENT_LOOKUPS_MAX run at once, and the others wait here, where those
 * that nobody waits for any more are left out, and not in libuv's line, which cannot be left. (libuv itself gives names at
 * most half its threads, two of four; a broad crawl does well to raise UV_THREADPOOL_SIZE.)
 */

import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { DownloadError, type HostLookup, type Settings, timerMs, withDeadline } from '@webloom/core'
import { Recent } from './recent.ts'

export interface HostAddressesOptions {
  /** How many names are remembered; 0: none. */
  readonly cacheSize: number
  /** How long a caller waits for an answer, milliseconds. */
  readonly timeoutMs: number
  /** Looks a name up. Default: the operating system does; tests give their own. */
  readonly lookup?: (hostname: string) => Promise<readonly string[]>
  /** Milliseconds of a monotonic clock. Tests give their own. */
  readonly now?: () => number
}

// getaddrinfo does not tell how long an answer holds. Most names on the web allow between one and five minutes.
const FOUND_TTL_MS = 60_000
// Short, as a name server that failed a moment ago may be back for the first retry.
const FAILED_TTL_MS = 5000
const CONCURRENT_LOOKUPS_MAX = 16

// RFC 6761 (6.3): these names are this machine, whatever a name server may say.
const LOCALHOST = /^(?:.+\.)?localhost\.?$/i
const LOOPBACK = ['127.0.0.1', '::1']

interface Answer {
  readonly addresses?: readonly string[]
  readonly error?: unknown
  readonly untilMs: number
}

interface Question {
  readonly hostname: string
  readonly askedAtMs: number
  readonly resolve: (addresses: readonly string[]) => void
  readonly reject: (error: unknown) => void
}

export class HostAddresses implements HostLookup {
  readonly #timeoutMs: number
  readonly #lookup: (hostname: string) => Promise<readonly string[]>
  readonly #now: () => number
  readonly #known: Recent<Answer>
  readonly #asking = new Map<string, Promise<readonly string[]>>()
  readonly #line: Question[] = []
  #lookups = 0

  constructor({ cacheSize, timeoutMs, lookup = systemLookup, now }: HostAddressesOptions) {
    this.#timeoutMs = timerMs(timeoutMs)
    this.#lookup = lookup
    this.#now = now ?? (() => performance.now())
    this.#known = new Recent(cacheSize)
  }

  static fromCrawler({ settings }: { readonly settings: Settings }): HostAddresses {
    return new this({
      cacheSize: settings.getBool('DNSCACHE_ENABLED') ? settings.getInt('DNSCACHE_SIZE') : 0,
      timeoutMs: settings.getFloat('DNS_TIMEOUT') * 1000,
    })
  }

  async of(hostname: string): Promise<readonly string[]> {
    if (isIP(hostname) !== 0) return [hostname]
    if (LOCALHOST.test(hostname)) return LOOPBACK
    const known = this.#known.get(hostname)
    if (known && known.untilMs > this.#now()) {
      if (known.addresses) return known.addresses
      throw known.error
    }
    const asking = this.#asking.get(hostname) ?? this.#ask(hostname)
    return withDeadline(this.#timeoutMs, asking, () => this.#late(hostname))
  }

  #ask(hostname: string): Promise<readonly string[]> {
    const asking = new Promise<readonly string[]>((resolve, reject) => {
      this.#line.push({ hostname, askedAtMs: this.#now(), resolve, reject })
    }).finally(() => this.#asking.delete(hostname))
    this.#asking.set(hostname, asking)
    this.#next()
    return asking
  }

  #next(): void {
    while (this.#lookups < CONCURRENT_LOOKUPS_MAX) {
      const question = this.#line.shift()
      if (!question) return
      // Its callers have been told already that no answer came.
      if (this.#now() - question.askedAtMs >= this.#timeoutMs) question.reject(this.#late(question.hostname))
      else void this.#answer(question)
    }
  }

  async #answer({ hostname, resolve, reject }: Question): Promise<void> {
    this.#lookups++
    try {
      const addresses = await this.#lookup(hostname)
      this.#known.set(hostname, { addresses, untilMs: this.#now() + FOUND_TTL_MS })
      resolve(addresses)
    } catch (cause) {
      const error = cannotResolve(hostname, (cause as Error).message, cause)
      this.#known.set(hostname, { error, untilMs: this.#now() + FAILED_TTL_MS })
      reject(error)
    } finally {
      this.#lookups--
      this.#next()
    }
  }

  #late(hostname: string): DownloadError {
    return cannotResolve(hostname, `no answer within ${this.#timeoutMs / 1000} s (DNS_TIMEOUT)`)
  }
}

async function systemLookup(hostname: string): Promise<string[]> {
  const found = await lookup(hostname, { all: true, order: 'verbatim' })
  return found.map(({ address }) => address)
}

function cannotResolve(hostname: string, why: string, cause?: unknown): DownloadError {
  return new DownloadError('CannotResolveHostError', `${hostname}: ${why}`, { cause })
}
