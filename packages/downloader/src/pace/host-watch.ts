import { boundedHostLists, type HostLists, originOf, type Request } from '@webloom/core'

/** What one exchange has told of its host. */
export interface HostSighting {
  /** The failure as the log names it. Absent: the answer was a good one. */
  readonly failure?: string
  /** Failures in a row, with this one. */
  readonly failures: number
  /** From the request's start to its answer. Absent: there was no answer. */
  readonly latencyMs?: number
  /** The host pauses from now on. */
  readonly pause?: { readonly ms: number; readonly why: string }
  readonly isGivenUp: boolean
}

interface WatchedHost {
  lastError: string
  failures: number
  latencyMsSum: number
  answers: number
  pausedUntilMs: number
  pausedFor: string
  givenUpSinceMs: number | undefined
}

// About two megabytes. The host that was met first is forgotten; it is listed again when more is seen of it.
const HOSTS_MAX = 10_000

/**
 * What this worker has seen of the hosts that it fetches from, for people who look. A page costs one look into a map; the
 * lists are sorted only when somebody asks for them.
 */
export class HostWatch {
  readonly #hosts = new Map<string, WatchedHost>()
  readonly #now: () => number

  /** @param now milliseconds since 1970; Date.now otherwise */
  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Notes an exchange with the network. */
  saw({ url }: Request, { failure, failures, latencyMs, pause, isGivenUp }: HostSighting): void {
    const host = this.#host(hostOf(url))
    host.failures = failures
    host.lastError = failure ?? ''
    if (latencyMs !== undefined) {
      host.latencyMsSum += latencyMs
      host.answers++
    }
    const endsAtMs = pause ? this.#now() + pause.ms : 0
    if (pause && endsAtMs > host.pausedUntilMs) {
      host.pausedUntilMs = endsAtMs
      host.pausedFor = pause.why
    }
    host.givenUpSinceMs = isGivenUp ? (host.givenUpSinceMs ?? this.#now()) : undefined
  }

  /** Returns what stands out now. What waits is the queue's to say. */
  lists(): Omit<HostLists, 'mostQueued'> {
    const hosts = [...this.#hosts].map(([host, seen]) => ({ host, ...seen }))
    const { mostQueued: _, ...lists } = boundedHostLists({
      mostQueued: [],
      failing: hosts
        .filter(({ failures }) => failures > 0)
        .map(({ host, failures, lastError }) => ({ host, failures, lastError })),
      slowest: hosts
        .filter(({ answers }) => answers > 0)
        .map(({ host, latencyMsSum, answers }) => ({ host, latencyMs: Math.round(latencyMsSum / answers) })),
      paused: hosts
        .filter(({ pausedUntilMs }) => pausedUntilMs > this.#now())
        .map(({ host, pausedUntilMs, pausedFor }) => ({ host, untilMs: pausedUntilMs, why: pausedFor })),
      givenUp: hosts.flatMap(({ host, lastError, givenUpSinceMs }) =>
        givenUpSinceMs === undefined ? [] : [{ host, why: lastError, sinceMs: givenUpSinceMs }],
      ),
    })
    return lists
  }

  #host(name: string): WatchedHost {
    const known = this.#hosts.get(name)
    if (known) return known
    const host: WatchedHost = {
      lastError: '',
      failures: 0,
      latencyMsSum: 0,
      answers: 0,
      pausedUntilMs: 0,
      pausedFor: '',
      givenUpSinceMs: undefined,
    }
    this.#hosts.set(name, host)
    if (this.#hosts.size > HOSTS_MAX) this.#hosts.delete(this.#hosts.keys().next().value!)
    return host
  }
}

/** Returns name and port, without a user's name and password: the lists are shown. */
function hostOf(url: string): string {
  const origin = originOf(url)
  return origin.slice(Math.max(origin.indexOf('//') + 1, origin.lastIndexOf('@')) + 1)
}
