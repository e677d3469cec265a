import { ENTRY_BYTES, type HostLists, RecentBytes, SLOW_FROM_MS } from '@webloom/core'

/** A request that had no good answer. */
export interface BadSighting {
  /** The failure as the log names it. */
  readonly failure: string
  /** Failures in a row, with this one. */
  readonly failures: number
  /** Undefined: there was no answer. */
  readonly latencyMs: number | undefined
  readonly isGivenUp: boolean
}

/** A host that is left alone from now on. */
export interface HostPause {
  readonly ms: number
  readonly reason: string
}

interface WatchedHost {
  lastFailure: string
  failures: number
  failedAtMs: number
  /** When it was given up, and when it answered again; 0: it has not. */
  givenUpAtMs: number
  recoveredAtMs: number
  /** 0: it is not slow. */
  latencyMs: number
  answeredAtMs: number
  pausedUntilMs: number
  pausedFor: string
}

// 2 ** 21, 2 MiB: some 6 000 hosts. One that is forgotten is listed again when more is seen of it.
const HOSTS_BYTES_MAX = 2_097_152
// The object, its numbers, and the texts that are made for it.
const WATCHED_BYTES = 192
/** How much the latest answer counts in a host's latency: an eighth, as in TCP's round-trip times. */
const LATENCY_WEIGHT = 1 / 8
// Its requests may go to another worker, where it answers sooner.
const SLOW_KEPT_MS = 600_000

/**
 * What this worker has seen of hosts that stand out, for people who look: by their shown names (`shownHostOf`). Of a host that answers soon and well nothing is kept:
 * a page of it costs one comparison, or one look into a map while other hosts stand out.
 */
export class HostWatch {
  readonly #hosts: RecentBytes<string, WatchedHost>
  readonly #now: () => number

  /** @param now milliseconds since 1970; Date.now otherwise */
  constructor(now: () => number = Date.now, hostsBytesMax = HOSTS_BYTES_MAX) {
    this.#now = now
    this.#hosts = new RecentBytes(hostsBytesMax)
  }

  /**
   * The host has given a good answer.
   *
   * @param latencyMs from the request's start to its answer; undefined where nobody has measured it
   * @param hasRecovered true when the host's last answer was a bad one, whichever worker got it
   */
  answered(name: string, latencyMs = 0, hasRecovered = false): void {
    const isNews = hasRecovered || latencyMs >= SLOW_FROM_MS
    if (!isNews && this.#hosts.size === 0) return
    const host = this.#hosts.get(name) ?? (isNews ? this.#add(name) : undefined)
    if (!host) return
    if (hasRecovered || host.failures > 0) host.recoveredAtMs = this.#now()
    host.failures = 0
    host.givenUpAtMs = 0
    this.#measured(host, latencyMs)
    if (!isWorthKeeping(host, this.#now)) this.#hosts.delete(name)
  }

  /** A request to the host has failed through it. */
  failed(name: string, { failure, failures, latencyMs = 0, isGivenUp }: BadSighting): void {
    const host = this.#of(name)
    host.lastFailure = failure
    host.failures = failures
    host.failedAtMs = this.#now()
    host.recoveredAtMs = 0
    host.givenUpAtMs = isGivenUp ? host.givenUpAtMs || this.#now() : 0
    this.#measured(host, latencyMs)
  }

  /** The host pauses from now on; a longer pause stays. */
  paused(name: string, { ms, reason }: HostPause): void {
    const host = this.#of(name)
    const endsAtMs = this.#now() + ms
    if (endsAtMs <= host.pausedUntilMs) return
    host.pausedUntilMs = endsAtMs
    host.pausedFor = reason
  }

  /** Returns what stands out now, unsorted. What waits is the queue's to say, and what is not answered yet the engine's. */
  lists(): WatchedLists {
    const lists: GatheredLists = { failing: [], slowest: [], paused: [], givenUp: [], recovered: [] }
    const now = this.#now()
    for (const [name, host] of this.#hosts.entries()) list(lists, name, host, now)
    return lists
  }

  /** A host becomes slow by one slow answer, and is so until the mean of its answers says otherwise. */
  #measured(host: WatchedHost, latencyMs: number): void {
    if (latencyMs === 0 || (host.latencyMs === 0 && latencyMs < SLOW_FROM_MS)) return
    const before = host.latencyMs || latencyMs
    const mean = before + LATENCY_WEIGHT * (latencyMs - before)
    host.latencyMs = mean < SLOW_FROM_MS ? 0 : mean
    host.answeredAtMs = this.#now()
  }

  #of(name: string): WatchedHost {
    return this.#hosts.get(name) ?? this.#add(name)
  }

  #add(name: string): WatchedHost {
    const host: WatchedHost = {
      lastFailure: '',
      failures: 0,
      failedAtMs: 0,
      givenUpAtMs: 0,
      recoveredAtMs: 0,
      latencyMs: 0,
      answeredAtMs: 0,
      pausedUntilMs: 0,
      pausedFor: '',
    }
    this.#hosts.set(name, host, ENTRY_BYTES + WATCHED_BYTES + name.length)
    return host
  }
}

type WatchedLists = Omit<HostLists, 'mostQueued' | 'unanswered' | 'answers'>

type GatheredLists = {
  -readonly [Name in keyof WatchedLists]: WatchedLists[Name][number][]
}

function list(lists: GatheredLists, host: string, seen: WatchedHost, now: number): void {
  const { failures, lastFailure, failedAtMs, givenUpAtMs, recoveredAtMs, latencyMs, answeredAtMs } = seen
  if (givenUpAtMs > 0)
    lists.givenUp.push({ host, reason: lastFailure, sinceMs: givenUpAtMs, seenAtMs: failedAtMs })
  else if (failures > 0) lists.failing.push({ host, failures, reason: lastFailure, seenAtMs: failedAtMs })
  if (recoveredAtMs > 0) lists.recovered.push({ host, seenAtMs: recoveredAtMs })
  if (latencyMs > 0 && now - answeredAtMs < SLOW_KEPT_MS)
    lists.slowest.push({ host, latencyMs: Math.round(latencyMs), seenAtMs: answeredAtMs })
  if (seen.pausedUntilMs > now)
    lists.paused.push({ host, untilMs: seen.pausedUntilMs, reason: seen.pausedFor })
}

function isWorthKeeping(host: WatchedHost, now: () => number): boolean {
  return host.recoveredAtMs > 0 || host.latencyMs > 0 || host.pausedUntilMs > now()
}
