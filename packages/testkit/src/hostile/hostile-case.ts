import type { Socket } from 'node:net'

/** One way to hurt a crawler, or an odd page that must not be taken for one. */
export interface HostileCase {
  /** Its path on its own host; what comes after it in a path is the case's own business. */
  readonly name: string
  /** Paths below `/<name>` that are asked for, in this order. Default: the name alone. */
  readonly paths?: readonly string[]
  readonly expected: Expected
  /** Absent: plain TCP. */
  readonly tls?: CertificateName
  /** A connection is there, of TLS before its handshake. Default: nothing. */
  onConnection?(socket: Socket): void
  /** A request is there. Default: nothing, for ever. */
  answer?(visit: Visit): void
}

export type CertificateName = 'valid' | 'self-signed' | 'expired' | 'other-host'

/** What a crawler must make of it, in the words of its stats. */
export interface Expected {
  /** `page`: the callback gets it; else the kind of failure or error that the errback gets. */
  readonly outcome: string
  /** Counted as `downloader/protection/<reason>` for each try. */
  readonly reason?: string
  /** Retried as often as the settings allow; else it is asked for once. */
  readonly isRetried?: boolean
  /** Keys of the stats that it adds to besides, and how much. */
  readonly stats?: Readonly<Record<string, number>>
  /** Text of the page's title, where that is not its path without the slash. */
  readonly title?: string
  /** Of the page: length of its text. */
  readonly characters?: number
}

/** A request as it has reached a case. */
export interface Visit {
  readonly path: string
  readonly headers: string
  /** 1 for the first request to that path. */
  readonly nth: number
  readonly socket: Socket
  /** `http://127.0.3.1:4567` */
  readonly origin: string
}

export const isPage = (more: Omit<Expected, 'outcome'> = {}): Expected => ({ outcome: 'page', ...more })

export const fails = (outcome: string, reason?: string, more: Partial<Expected> = {}): Expected => ({
  outcome,
  ...(reason !== undefined && { reason }),
  ...more,
})

/** A failure that may pass. */
export const failsForNow = (outcome: string, reason?: string): Expected =>
  fails(outcome, reason, { isRetried: true })
