/**
 * The addresses of hosts, remembered for as long as they hold.
 *
 * All who ask for one name share one question. A name that never answers holds a place in the line for as long as its
 * source waits, so the number of places is that of the source: of the operating system (getaddrinfo) each question takes
 * a thread of libuv's pool, where names have at most half the threads, two of four, and a dead name may take half a
 * minute; questions to name servers take a packet. Questions past that number wait here, where those that nobody waits
 * for any more are left out, and not in libuv's line, which cannot be left. (UV_THREADPOOL_SIZE raises its threads.)
 *
 * Requests wait for their names without a place of CONCURRENT_REQUESTS (`ahead`): for questions that are asked at once, and for
 * those of a line that is short, as name servers that answer soon get to them. Of a source that answers nothing at all few are
 * asked: requests that went on to ask a server that is down would fail by the thousand.
 *
 * A forwarder that is asked for too many at once refuses some: dnsmasq past 150, which the workers of a machine share. A name that was refused is
 * asked for again a few times, and fewer are asked for at once (`LookupWindow`).
 */

import {
  type BegunWait,
  DownloadError,
  ENTRY_BYTES,
  FreshWaits,
  type HostLookup,
  PassingMap,
  RecentBytes,
  type Settings,
  SettingsError,
  timerMs,
  withDeadline,
} from '@webloom/core'
import { LookupWindow } from '../names/lookup-window.ts'
import {
  isRefusal,
  isUnknownName,
  type NameServers,
  nameServersAt,
  nameServersOfMachine,
} from '../names/name-servers.ts'
import { type FoundAddresses, systemLookup } from '../names/system-lookup.ts'
import { isAddress } from './ip-network.ts'

export interface HostAddressesOptions {
  /** How many names are remembered, each in 512 bytes; a name with many addresses counts for several. 0: none. */
  readonly cacheSize: number
  /** How long a caller waits for an answer, milliseconds. */
  readonly timeoutMs: number
  /** Looks a name up. Default: the operating system does; tests give their own. */
  readonly lookup?: (hostname: string) => Promise<FoundAddresses>
  /** Ends the lookups that are under way. Default: they end by themselves. */
  readonly cancel?: () => void
  /** How many lookups run at once. Default: what the operating system bears. */
  readonly lookupsMax?: number
  /** How many of them may have begun a moment ago: as many as the source may be asked at once. Default: all. */
  readonly freshLookupsMax?: number
  /** Milliseconds of a monotonic clock. Tests give their own. */
  readonly now?: () => number
}

// The operating system does not tell how long an answer holds. Most names on the web allow between one and five minutes.
const FOUND_TTL_MS = 60_000
// Balancers say 0 and mean "ask often": one page's requests still share an answer. A name is asked for again each hour.
const FOUND_TTL_MS_MIN = 1000
const FOUND_TTL_MS_MAX = 3_600_000
const UNKNOWN_TTL_MS = 5000
// Shorter than the least that a first retry waits (half of RETRY_BACKOFF): a name server that failed a moment ago may be back for it.
const FAILED_TTL_MS = 400
const CONCURRENT_LOOKUPS_MAX = 16
// A name that never answers has its place for some 15 s: of 3 000 names a second one in a hundred may be such a name, and be
// asked for three times. 1.3 KB each for A, and as much for AAAA.
const SERVER_LOOKUPS_MAX = 4096
// Linux keeps 256 short packets for a socket that is not read at once, and drops the rest: of 500 questions in one go half were asked
// again a second later, and lost again. Two questions a name, A and AAAA, so 128 names; at 50 ms for an answer that is 2 500 a
// second. dnsmasq, too, refuses what comes while it looks up 150.
const SERVER_FRESH_LOOKUPS_MAX = 128
// A lookup without an answer for so long waits for a slow or a dead server, and its packets are in no socket any more. With less, a server
// that takes half a second for each name has more of them than it bears, and refuses one after the other.
const FRESH_MS = 1000
// Of a name that is refused, within two seconds: of a source that refuses every fourth for their number, one in sixteen thousand is refused each time.
const QUESTIONS_MAX = 7
// Of a source that has answered no other name meanwhile, within six seconds.
const QUESTIONS_MAX_UNANSWERED = 12
const REFUSED_AGAIN_MS = 100
const CLOSED = 'it is not looked up any more: what asks for it was closed'
const REFUSED = 'the name server refused it, and is asked for too many others (DNS_TIMEOUT)'
// So many wait for their turn beside those that are asked: a tenth of a second of names that are answered after 20 ms.
const LINE_AHEAD_MAX = 512
// A source that has said nothing for so long is asked ahead for fewer names: 16 a second, as a dead one has its place for 15 s.
const SILENCE_MS = 2000
const LOOKUPS_IN_SILENCE_MAX = 256

// RFC 6761 (6.3): these names are this machine, whatever a name server may say.
const LOCALHOST = /^(?:.+\.)?localhost\.?$/i
const LOOPBACK = ['127.0.0.1', '::1']

// What one of DNSCACHE_SIZE names may take: a name of 60 characters with five addresses does.
const NAME_BYTES = 512
const ADDRESS_BYTES = 64

interface Answer {
  readonly addresses?: readonly string[]
  /** Why there are none. An error would take a kilobyte more. */
  readonly failure?: string
  readonly untilMs: number
}

interface Question {
  readonly hostname: string
  readonly askedAtMs: number
  /** How often the source refused it, and when the lookup was begun that it refused last. */
  refusals: number
  refusedOfMs: number
  readonly resolve: (addresses: readonly string[]) => void
  readonly reject: (error: unknown) => void
}

export class HostAddresses implements HostLookup {
  readonly #timeoutMs: number
  readonly #lookup: (hostname: string) => Promise<FoundAddresses>
  readonly #cancel: (() => void) | undefined
  readonly #lookupsMax: number
  readonly #now: () => number
  readonly #known: RecentBytes<string, Answer>
  readonly #remembers: boolean
  readonly #asking = new PassingMap<string, Promise<readonly string[]>>()
  readonly #line: Question[] = []
  #lookups = 0
  readonly #fresh = new FreshWaits()
  #whenStale: NodeJS.Timeout | undefined
  /** Of the lookups that are fresh. */
  readonly #window: LookupWindow
  /** When the source last said something, be it that there is no such name. */
  #answeredAtMs: number
  #isClosed = false

  constructor(options: HostAddressesOptions) {
    const { cacheSize, timeoutMs, lookup = systemLookup, cancel, lookupsMax, freshLookupsMax, now } = options
    this.#timeoutMs = timerMs(timeoutMs)
    this.#lookup = lookup
    this.#cancel = cancel
    this.#lookupsMax = lookupsMax ?? CONCURRENT_LOOKUPS_MAX
    this.#window = new LookupWindow(freshLookupsMax ?? this.#lookupsMax)
    this.#now = now ?? (() => performance.now())
    this.#answeredAtMs = this.#now()
    this.#known = new RecentBytes(cacheSize * NAME_BYTES)
    this.#remembers = cacheSize > 0
  }

  static fromCrawler({ settings }: { readonly settings: Settings }): HostAddresses {
    const servers = nameServers(settings)
    return new this({
      cacheSize: settings.getBool('DNSCACHE_ENABLED') ? settings.getInt('DNSCACHE_SIZE') : 0,
      timeoutMs: settings.getMs('DNS_TIMEOUT'),
      ...(servers && {
        lookup: (name: string) => servers.lookup(name),
        cancel: () => servers.close(),
        lookupsMax: SERVER_LOOKUPS_MAX,
        freshLookupsMax: SERVER_FRESH_LOOKUPS_MAX,
      }),
    })
  }

  async of(hostname: string): Promise<readonly string[]> {
    if (isAddress(hostname)) return [hostname]
    const known = this.#held(this.#known.get(hostname))
    if (known?.addresses) return known.addresses
    if (known) throw cannotResolve(hostname, known.failure ?? 'no address')
    return LOCALHOST.test(hostname) ? LOOPBACK : this.#asked(hostname)
  }

  ahead(hostname: string): Promise<unknown> | undefined {
    // The connection that is made next uses what is known, by `of`.
    if (!this.#remembers || isAddress(hostname) || this.#held(this.#known.peek(hostname))) return undefined
    if (LOCALHOST.test(hostname)) return undefined
    if (!this.#asking.has(hostname) && !this.#mayAskAhead()) return undefined
    return this.#asked(hostname)
  }

  /** Ends all questions, and asks none any more: one that is never answered would keep a process that has done its work from ending. */
  close(): void {
    this.#isClosed = true
    this.#next()
    this.#cancel?.()
  }

  #held(known: Answer | undefined): Answer | undefined {
    return known && known.untilMs > this.#now() ? known : undefined
  }

  #asked(hostname: string): Promise<readonly string[]> {
    const asking = this.#asking.get(hostname) ?? this.#ask(hostname)
    return withDeadline(this.#timeoutMs, asking, () => this.#late(hostname))
  }

  /** Returns whether a request may wait for one more lookup without a place: for its turn, too, while the source answers. */
  #mayAskAhead(): boolean {
    if (this.#now() - this.#answeredAtMs >= SILENCE_MS)
      return this.#mayBegin(Math.min(this.#lookupsMax, LOOKUPS_IN_SILENCE_MAX))
    return this.#lookups < this.#lookupsMax && this.#line.length < LINE_AHEAD_MAX
  }

  /** Returns whether one more lookup may begin when at most `lookupsMax` may be under way. */
  #mayBegin(lookupsMax: number): boolean {
    if (this.#lookups >= lookupsMax) return false
    return this.#underWay() < this.#window.size
  }

  #underWay(): number {
    return this.#fresh.count(this.#now(), FRESH_MS)
  }

  #ask(hostname: string): Promise<readonly string[]> {
    const asking = new Promise<readonly string[]>((resolve, reject) => {
      this.#line.push({ hostname, askedAtMs: this.#now(), refusals: 0, refusedOfMs: 0, resolve, reject })
    })
    this.#asking.set(hostname, asking)
    this.#next()
    return asking
  }

  #next(): void {
    if (this.#isClosed) for (const question of this.#line.splice(0)) this.#leftUnasked(question)
    while (this.#mayBegin(this.#lookupsMax)) {
      const question = this.#line.shift()
      if (!question) return
      // Its callers have been told already that no answer came.
      if (this.#now() - question.askedAtMs >= this.#timeoutMs) this.#leftUnasked(question)
      else void this.#answer(question)
    }
    // Servers that are silent end no lookup for a long time, but their lookups do not stay fresh.
    if (this.#line.length > 0 && this.#lookups < this.#lookupsMax) this.#nextWhenStale()
  }

  #leftUnasked({ hostname, refusals, reject }: Question): void {
    this.#asking.delete(hostname)
    if (this.#isClosed) reject(cannotResolve(hostname, CLOSED))
    else reject(refusals > 0 ? cannotResolve(hostname, REFUSED) : this.#late(hostname))
  }

  #nextWhenStale(): void {
    this.#whenStale ??= setTimeout(() => {
      this.#whenStale = undefined
      this.#next()
    }, FRESH_MS / 10).unref()
  }

  async #answer(question: Question): Promise<void> {
    const { hostname, resolve, reject } = question
    this.#lookups++
    const lookup = this.#fresh.begin(this.#now())
    this.#window.begin(lookup.atMs)
    let isOver = true
    try {
      const { addresses, ttlMs = FOUND_TTL_MS } = await this.#lookup(hostname)
      this.#noteAnswer(question)
      const heldMs = Math.min(Math.max(ttlMs, FOUND_TTL_MS_MIN), FOUND_TTL_MS_MAX)
      this.#know(hostname, { addresses, untilMs: this.#answeredAtMs + heldMs })
      resolve(addresses)
    } catch (cause) {
      if (isRefusal(cause)) {
        this.#window.refused()
        isOver = this.#isRefusedForGood(question)
        question.refusedOfMs = lookup.atMs
      }
      if (!isOver) return this.#againLater(question, lookup)
      const isUnknown = isUnknownName(cause)
      if (isUnknown) this.#noteAnswer(question)
      const failure = (cause as Error).message
      this.#know(hostname, { failure, untilMs: this.#now() + (isUnknown ? UNKNOWN_TTL_MS : FAILED_TTL_MS) })
      reject(cannotResolve(hostname, failure, cause))
    } finally {
      this.#lookups--
      if (isOver) this.#asking.delete(hostname)
      if (isOver || question.refusals > 1) this.#fresh.end(lookup)
      this.#next()
    }
  }

  #noteAnswer({ refusals, refusedOfMs }: Question): void {
    this.#answeredAtMs = this.#now()
    if (refusals === 0) this.#window.answered()
    else this.#window.answeredAfterRefusal(refusedOfMs, this.#answeredAtMs, this.#underWay())
  }

  #isRefusedForGood(question: Question): boolean {
    question.refusals++
    const answersOthers = this.#answeredAtMs > question.refusedOfMs
    return question.refusals >= (answersOthers ? QUESTIONS_MAX : QUESTIONS_MAX_UNANSWERED)
  }

  /**
   * A refusal comes at once, so that a whole line would be asked in vain if the first of a name did not count as under way until it is asked
   * again. That is when another name has its answer, as the source has room for one more then.
   */
  #againLater(question: Question, lookup: BegunWait): void {
    // Workers that were refused together are not to come back together.
    const againMs = REFUSED_AGAIN_MS * Math.min(question.refusals, QUESTIONS_MAX) * (0.5 + Math.random())
    const timer = setTimeout(() => {
      this.#fresh.end(lookup)
      this.#line.unshift(question)
      this.#nextWhenStale()
    }, againMs)
    timer.unref()
  }

  #know(hostname: string, answer: Answer): void {
    if (!this.#remembers) return
    const { addresses = [], failure = '' } = answer
    const bytes = ENTRY_BYTES + hostname.length + failure.length + ADDRESS_BYTES * (addresses.length + 1)
    this.#known.set(hostname, answer, Math.max(NAME_BYTES, bytes))
  }

  #late(hostname: string): DownloadError {
    return cannotResolve(hostname, `no answer within ${this.#timeoutMs / 1000} s (DNS_TIMEOUT)`)
  }
}

/** Returns the name servers to ask; undefined when the operating system is asked. */
function nameServers(settings: Settings): NameServers | undefined {
  if (settings.get('DNS_RESOLVER') === 'system') return undefined
  const servers = settings.getList('DNS_SERVERS').map(String)
  if (servers.length === 0) return nameServersOfMachine()
  try {
    return nameServersAt(servers)
  } catch {
    throw new SettingsError([
      `DNS_SERVERS is ${JSON.stringify(servers)}; expected addresses with or without a port, such as 192.0.2.1 or 192.0.2.1:53`,
    ])
  }
}

function cannotResolve(hostname: string, why: string, cause?: unknown): DownloadError {
  return new DownloadError('CannotResolveHostError', `${hostname}: ${why}`, { cause })
}
