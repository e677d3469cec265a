/**
 * The places of CONCURRENT_REQUESTS, and which requests wait without one.
 *
 *     held ──stepAside──► aside ──what it waits for has come──► in line ──a place is free──► held ──leave──► over
 *
 * A request that waits for its host's name sends nothing, so others have its place meanwhile. It goes before new requests when it
 * comes back: each place that becomes free is handed to the first in line, and nothing is leased while one stands there. Nor while
 * many have stepped aside a moment ago: they are more than enough for the places there are, and would wait for each other.
 *
 * Requests that are aside are leased and in memory, so their number and bytes are bounded. Past a bound a request waits in its
 * place, which slows the intake.
 */

import { type BegunWait, FreshWaits, PassingMap, type Request } from '@webloom/core'
import { eventLoopTurn } from './event-loop-turn.ts'
import { bytesOf } from './request-bytes.ts'

export interface DownloadPlacesOptions {
  /** CONCURRENT_REQUESTS. Infinity: no bound. */
  readonly max: number
  /** Called when there is more room than before. */
  readonly onRoom: () => void
  /** How many requests may be aside at once. Default: ASIDE_MAX. */
  readonly asideMax?: number
  /** How many bytes they may take. Default: ASIDE_BYTES_MAX. */
  readonly asideBytesMax?: number
}

// As many as the names that the downloader looks up at once (SERVER_LOOKUPS_MAX).
const ASIDE_MAX = 4096
const ASIDE_BYTES_MAX = 64 * 2 ** 20
// A name is answered within some ten milliseconds, and a page takes as long. What has been aside for longer may stay there: it does
// not keep others out.
const FRESH_MS = 250
const FRESH_ASIDE_PER_PLACE = 4
// As many as name servers are asked at once (SERVER_FRESH_LOOKUPS_MAX): with few places more of these names are under way than pages.
const FRESH_ASIDE_MIN = 128
// What a request takes beside its URL, headers, body and meta: its lease, and the promises of its download.
const REQUEST_BYTES = 8192

export class DownloadPlaces {
  readonly #max: number
  readonly #onRoom: () => void
  readonly #asideMax: number
  readonly #asideBytesMax: number
  #isPaused = false
  #taken = 0
  #aside = 0
  #asideBytes = 0
  /** Those that wait for a place, in the order in which they came. */
  readonly #line = new PassingMap<DownloadPlace, () => void>()
  readonly #fresh = new FreshWaits()
  #whenStale: NodeJS.Timeout | undefined
  /** Those that have a place and go on in the next turn of the event loop. */
  readonly #toWake: (() => void)[] = []

  constructor({ max, onRoom, asideMax = ASIDE_MAX, asideBytesMax = ASIDE_BYTES_MAX }: DownloadPlacesOptions) {
    this.#max = max
    this.#onRoom = onRoom
    this.#asideMax = asideMax
    this.#asideBytesMax = asideBytesMax
  }

  get free(): number {
    return Math.max(0, this.#max - this.#taken)
  }

  get taken(): number {
    return this.#taken
  }

  /** How many more requests may be leased. */
  get room(): number {
    const coming = this.#fresh.count(performance.now(), FRESH_MS) + this.#line.size
    return coming < Math.max(FRESH_ASIDE_MIN, FRESH_ASIDE_PER_PLACE * this.#max) ? this.free : 0
  }

  /** How many downloads have not ended, whether they have a place or not. */
  get downloads(): number {
    return this.#taken + this.#aside
  }

  /** Begins a download. It has a place unless those that came back took the last ones while its request was being leased. */
  begin(request: Request): DownloadPlace {
    const place = new DownloadPlace(this, request)
    if (this.free > 0) this.#enter(place)
    else this.#aside++
    return place
  }

  /** Gives the place to another one. Returns false when it must be kept: too many are aside. */
  vacate(place: DownloadPlace, bytes: number): boolean {
    if (this.#aside >= this.#asideMax || this.#asideBytes + bytes > this.#asideBytesMax) return false
    this.#aside++
    this.#asideBytes += bytes
    place.asideBytes = bytes
    place.wait = this.#fresh.begin(performance.now())
    place.isHeld = false
    this.#free()
    return true
  }

  /** Resolves when the download has a place, or is over. */
  async enter(place: DownloadPlace): Promise<void> {
    this.#waited(place)
    if (this.free === 0 || !this.#mayGoOn(place))
      return new Promise((resolve) => this.#line.set(place, resolve))
    this.#notAside(place)
    this.#enter(place)
    this.#tellOfRoom()
  }

  leave(place: DownloadPlace): void {
    if (place.isHeld) this.#free()
    else {
      this.#notAside(place)
      this.#line.get(place)?.()
      this.#line.delete(place)
      this.#onRoom()
    }
  }

  #enter(place: DownloadPlace): void {
    this.#taken++
    place.isHeld = true
  }

  /** Tells of room, now or when there is some: those that stop being fresh tell nobody. */
  #tellOfRoom(): void {
    if (this.room > 0) this.#onRoom()
    else if (this.free > 0)
      this.#whenStale ??= setTimeout(() => {
        this.#whenStale = undefined
        this.#tellOfRoom()
      }, FRESH_MS / 10).unref()
  }

  #waited(place: DownloadPlace): void {
    if (place.wait) this.#fresh.end(place.wait)
    place.wait = undefined
  }

  #notAside(place: DownloadPlace): void {
    this.#waited(place)
    this.#aside--
    this.#asideBytes -= place.asideBytes
    place.asideBytes = 0
  }

  /** Downloads without a place that have sent nothing wait until `resume`. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#handOn()
  }

  #mayGoOn(place: DownloadPlace): boolean {
    return !this.#isPaused || place.hasStarted
  }

  #free(): void {
    this.#taken--
    this.#handOn()
  }

  /** Gives the free places to the first in line; what they leave is room. */
  #handOn(): void {
    for (const [place, resolve] of this.#line) {
      if (this.free === 0) return
      if (this.#mayGoOn(place)) this.#handTo(place, resolve)
    }
    this.#tellOfRoom()
  }

  #handTo(place: DownloadPlace, resolve: () => void): void {
    this.#line.delete(place)
    this.#notAside(place)
    this.#enter(place)
    this.#wakeSoon(resolve)
  }

  /**
   * Those that get a place in one turn of the event loop go on together: a server, or Redis, that hears of ten at once wakes up once for them, and so
   * does this process for the answers.
   */
  #wakeSoon(resolve: () => void): void {
    if (this.#toWake.push(resolve) > 1) return
    void eventLoopTurn().then(() => {
      for (const wake of this.#toWake.splice(0)) wake()
    })
  }
}

/** The place of one download, which may give it to others for a while. */
export class DownloadPlace {
  readonly #places: DownloadPlaces
  readonly request: Request
  #isOver = false
  isHeld = false
  /** When something was sent for it last, robots.txt of its host or the request itself, by `performance.now()`. Undefined: nothing was. */
  sentAtMs: number | undefined
  asideBytes = 0
  /** For what it has stepped aside. */
  wait: BegunWait | undefined

  constructor(places: DownloadPlaces, request: Request) {
    this.#places = places
    this.request = request
  }

  get hasStarted(): boolean {
    return this.sentAtMs !== undefined
  }

  /** Resolves when there is a place for the download to begin, or when it is over. */
  async entered(): Promise<void> {
    if (!this.isHeld) await this.#places.enter(this)
  }

  /** Settles as `wait` does, once there is a place again. Others have the place meanwhile. */
  async stepAside<T>(wait: Promise<T>): Promise<T> {
    // A download that awaits two things at once comes back with the first of them; one that is over has no place to give.
    if (this.#isOver || !this.isHeld || !this.#places.vacate(this, REQUEST_BYTES + bytesOf(this.request)))
      return wait
    try {
      return await wait
    } finally {
      if (!this.#isOver) await this.#places.enter(this)
    }
  }

  /** The download is over. */
  leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#places.leave(this)
  }
}
