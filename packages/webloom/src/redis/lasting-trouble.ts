/**
 * What may keep a crawl that has begun from its Redis for good, although that answers:
 *
 *     demoted     what was its master is a replica now, and nobody names the new one
 *     crowded     it takes no more connections, as it has as many as it may (maxclients)
 *     locked      it does not let us in any more, or the master that Sentinels name does not, or no node of a cluster does, or a master of it does not
 *
 * Each may pass: an address is given to the new master, another client leaves, a password is given back. So the crawl waits; but not for ever, as nobody may be there to see
 * that it waits. Only a single server that is locked is not waited for: nobody has taken its place, and so somebody has locked it on purpose.
 */

import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  addressOf,
  type Logger,
  markLockedOut,
  type RedisAddress,
  type RedisOptions,
  WebloomError,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { wayOut } from '../terminal/told-once.ts'
import { IsNotReady } from './redis-readiness.ts'
import { IsReplica, masterOfReplica } from './redis-refusal.ts'
import { IsLockedAtMaster } from './refusal.ts'

/** How often a replica is asked whether it is the master again. */
const ASKED_MS = 500

/** How often the nodes of a cluster are asked whether they let us in. */
const NODES_ASKED_MS = 1000
/** And later, when nothing has waited for the one that does not. */
const NODES_ASKED_AGAIN_MS = 10_000
/** A command without key goes to any node, and so to another one soon; one that waits for so long has a key of that node. */
const WAITS_MS = 5000
/** Whatever waits is sent again within that time. */
const SENT_AGAIN_MS = 3000
/** What was sent again just when it was given up comes back until then. */
const FLUSHED_AGAIN_MS = 1000

/** Redis says so to each client that it does not take, and closes the connection; ioredis tells only that it is closed. */
const CROWDED = '-ERR max number of clients'

/** How long a server is listened to that has told nothing. */
const LISTENED_MS_MAX = 1000

type Trouble = 'demoted' | 'crowded' | 'locked'

interface LastingTroubleOptions {
  readonly client: Redis
  /** For the log, without password. */
  readonly shown: string
  /** The setting that names the server. */
  readonly setting: string
  readonly logger: Logger
  /** What was told of the server, by any connection to it. */
  readonly told: Set<string>
  /** Resolves to the refusal of a server, of a cluster or of a master of it; to undefined when we are let in. Rejects when that cannot be told. */
  readonly lockedOut: (look: LockedLook) => Promise<WebloomError | undefined>
  /** How long trouble may last. */
  readonly msMax: number
  /** How long `locked` may. */
  readonly lockedMsMax: number
  /** Returns who is told; undefined where no crawl runs: a dashboard of many servers goes on without that one. */
  readonly onHopeless: () => OnHopeless | undefined
}

/** One look of several. */
export interface LockedLook {
  /** What the last one found that could tell. */
  readonly before: WebloomError | undefined
  /** Nodes that are still late then are taken for some that refuse. */
  readonly isLast: boolean
  /** The server that has let us in last; of a cluster undefined. */
  readonly letInAt?: RedisAddress | undefined
}

/** Called once, when trouble has lasted for too long: the crawl cannot go on. `isTold`: the log says so. */
export type OnHopeless = (error: WebloomError, isTold: boolean) => void

interface Rejecting {
  reject(error: Error): void
}

/** As ioredis's clients have it; the type keeps it from us. */
interface Ending {
  sendCommand(command: Rejecting & { readonly promise: Promise<unknown> }): Promise<unknown>
  flushQueue(error: Error): void
  disconnect(): void
  /** Of a cluster: what becomes of a command that failed. */
  handleError?(error: Error, timesLeft: unknown, ways: { maxRedirections(error: Error): void }): void
  /** Of a cluster: what waits to be sent again. */
  readonly delayQueue?: { readonly queues: Readonly<Record<string, unknown>>; execute(bucket: string): void }
  /** What was under way when the connection was lost, until the next one is ready. `flushQueue` leaves it out. Not of a cluster. */
  readonly prevCommandQueue?: { shift(): { readonly command: Rejecting } | undefined } | null
}

/** Of one connection and of all that are made of it. */
export class LastingTrouble {
  readonly #options: LastingTroubleOptions
  readonly #refused = new Set<Redis>()
  #crowdedTooLong: NodeJS.Timeout | undefined
  readonly #flushing = new Set<NodeJS.Timeout>()
  /** The connection, and those that are made of it; of a cluster without those to its nodes. */
  readonly #clients = new Set<Redis>()
  /** When a command was last refused that can go to no other node. */
  #waitedAtMs = Number.NEGATIVE_INFINITY
  #letInAt: RedisAddress | undefined
  #isLooking = false
  #refusal: WebloomError | undefined
  #isClosed = false

  constructor(options: LastingTroubleOptions) {
    this.#options = options
    this.#watch(options.client)
  }

  /** Why the server was waited for in vain, as an error of what is not to be tried again; undefined while there is hope. */
  get refusal(): WebloomError | undefined {
    return this.#refusal
  }

  /** Why a connection was refused; undefined while none is. */
  get crowd(): IsNotReady | undefined {
    return this.#refused.size > 0 ? crowded(this.#options.shown) : undefined
  }

  /** Whoever listens is told of a login that is refused, or has been. */
  get isAwaited(): boolean {
    return this.#options.onHopeless() !== undefined
  }

  /** False where no crawl runs: whoever asks there is refused, or waits, until he is let in. */
  get waitsForLogin(): boolean {
    return !this.#refusal && this.isAwaited
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#crowdedTooLong)
    for (const timer of this.#flushing) clearTimeout(timer)
  }

  /** A server that was a master has refused a command that writes. */
  onReadOnly(): void {
    this.#look(() => this.#lookWhetherDemoted())
  }

  /** A server has refused the login, of any connection to it. */
  onLoginRefused(): void {
    if (this.waitsForLogin) this.#look(() => this.#lookWhetherLocked())
  }

  #look(look: () => Promise<void>): void {
    if (this.#isLooking || this.#refusal || this.#isClosed) return
    this.#isLooking = true
    look()
      .catch(() => {})
      .finally(() => {
        this.#isLooking = false
      })
  }

  async #lookWhetherDemoted(): Promise<void> {
    const { client, shown, setting, msMax } = this.#options
    const startedAt = performance.now()
    while (!this.#isClosed) {
      const master = masterOfReplica(await client.info('replication'))
      if (this.#isClosed) return
      if (!master) return this.#tellOver('demoted', 'Redis is a master again; the crawl goes on')
      const error = new IsReplica(shown, setting, master)
      this.#tell('demoted', error)
      if (performance.now() - startedAt > msMax) return this.#giveUp('demoted', error)
      await sleep(ASKED_MS, undefined, { ref: false })
    }
  }

  async #lookWhetherLocked(): Promise<void> {
    const { lockedOut, lockedMsMax } = this.#options
    const startedAt = performance.now()
    let error: WebloomError | undefined
    while (!this.#isClosed) {
      const isLast = performance.now() - startedAt >= lockedMsMax
      // A busy machine cannot tell, for a moment; nor a node that is away.
      const look = { before: error, isLast, letInAt: this.#letInAt }
      const seen = await lockedOut(look).catch(() => 'unknown' as const)
      if (this.#isClosed) return
      if (!seen) return this.#tellOver('locked', 'Redis lets this process in again; the crawl goes on')
      if (seen !== 'unknown') {
        error = seen
        if (lockedMsMax > 0) this.#tell('locked', error)
        if (isLast && this.#mattersToUs(error)) return this.#giveUp('locked', error)
      }
      // Nobody refuses any more, but nobody lets us in: an outage, which is waited for.
      else if (isLast && !error) return
      const askedMs = isLast ? NODES_ASKED_AGAIN_MS : NODES_ASKED_MS
      await sleep(Math.min(askedMs, lockedMsMax), undefined, { ref: false })
    }
  }

  /** A crawl may keep nothing on a master: without shards it has one slot. */
  #mattersToUs(error: WebloomError): boolean {
    return !(error instanceof IsLockedAtMaster) || performance.now() - this.#waitedAtMs < SENT_AGAIN_MS
  }

  /** @param isNode of a cluster, and ended by that */
  #watch(client: Redis, isNode = false): void {
    if (!isNode) {
      this.#clients.add(client)
      client.once('end', () => this.#clients.delete(client))
    }
    client.on('connect', () => {
      const { stream } = client as unknown as { readonly stream: NodeJS.ReadableStream }
      stream?.once('data', (first: Buffer) =>
        isCrowded(first) ? this.#onRefused(client) : this.#onTaken(client),
      )
    })
    client.on('end', () => this.#onTaken(client))
    client.on('ready', () => {
      this.#letInAt = addressOf(client)
    })
    // Of a cluster.
    client.on('waits', (ms: number) => {
      if (ms >= Math.min(WAITS_MS, this.#options.lockedMsMax / 2)) this.#waitedAtMs = performance.now()
    })
    client.on('+node', (node: Redis) => this.#watch(node, true))
    const duplicate = client.duplicate.bind(client)
    client.duplicate = (...given) => {
      const made = duplicate(...given)
      this.#watch(made, isNode)
      return made
    }
  }

  #onRefused(client: Redis): void {
    if (this.#isClosed) return
    // One that was made since.
    if (this.#refusal) {
      this.#end([client], this.#refusal)
      return
    }
    if (this.#refused.size === 0) {
      const { shown, msMax } = this.#options
      const error = crowded(shown)
      this.#tell('crowded', error)
      this.#crowdedTooLong = setTimeout(() => this.#giveUp('crowded', error), msMax).unref()
    }
    this.#refused.add(client)
  }

  #onTaken(client: Redis): void {
    if (!this.#refused.delete(client) || this.#refused.size > 0) return
    clearTimeout(this.#crowdedTooLong)
    this.#tellOver('crowded', 'Redis takes the connections now; the crawl goes on')
  }

  #tell(what: Trouble, error: Error): void {
    const { shown, logger, told, msMax } = this.#options
    if (told.has(`${what} ${shown}`)) return
    told.add(`${what} ${shown}`)
    const where = error instanceof IsLockedAtMaster ? ' if it keeps anything there' : ''
    logger.warn(
      `${error.message}. The crawl waits for up to ${Math.ceil(msMax / 1000)} s, and then ends${where}`,
    )
  }

  /** Returns whether the log says that the server was waited for. */
  #tellHopeless(what: Trouble, { message }: Error): boolean {
    const { shown, logger, told } = this.#options
    if (!told.has(`${what} ${shown}`)) return false
    if (!told.has(`hopeless ${shown}`))
      logger.error(
        `${message}. It was waited for in vain, and the crawl ends. Started again it goes on where it was, unless it keeps its requests in memory`,
      )
    told.add(`hopeless ${shown}`)
    return true
  }

  #tellOver(what: Trouble, text: string): void {
    const { shown, logger, told } = this.#options
    if (this.#refusal || this.#isClosed) return
    if (told.delete(`${what} ${shown}`)) logger.info({ redis: shown }, text)
  }

  /** Of a master that has become a replica, connections that answer what only reads go on. */
  #giveUp(what: Trouble, error: WebloomError): void {
    const refusal = asRefusal(error)
    this.#refusal = refusal
    if (what === 'locked') markLockedOut(refusal)
    this.#options.onHopeless()?.(error, this.#tellHopeless(what, error))
    if (what === 'locked') this.#end([...this.#clients], refusal)
    if (what === 'crowded') this.#end([...this.#refused], refusal)
  }

  /** ioredis keeps what is sent to a server that it cannot reach, and of a cluster again when it is told to disconnect. */
  #end(ended: readonly Redis[], error: WebloomError): void {
    const clients = ended as unknown as readonly Ending[]
    const flush = () => {
      for (const client of clients) {
        for (let sent = client.prevCommandQueue?.shift(); sent; sent = client.prevCommandQueue?.shift())
          sent.command.reject(error)
        // Into the queue that is flushed: there is no node left.
        for (const bucket in client.delayQueue?.queues) client.delayQueue.execute(bucket)
        client.flushQueue(error)
      }
    }
    for (const client of clients) {
      client.sendCommand = (command) => {
        command.reject(error)
        return command.promise
      }
      // What is under way would be sent again, and hear only that the client was ended.
      if (client.handleError)
        client.handleError = (_lost, _left, { maxRedirections }) => maxRedirections(error)
      // Who waits hears why; told to disconnect, ioredis says that the connection is closed.
      client.flushQueue(error)
      client.disconnect()
    }
    flush()
    const timer = setTimeout(() => {
      this.#flushing.delete(timer)
      flush()
    }, FLUSHED_AGAIN_MS)
    this.#flushing.add(timer)
  }
}

/** A command that was waited for in vain has the code of one that was refused: nobody sends it again. */
function asRefusal(error: WebloomError): WebloomError {
  return error.code === 'WL_REDIS_REFUSED'
    ? error
    : new WebloomError('WL_REDIS_REFUSED', error.message, { cause: error })
}

function isCrowded(first: Buffer): boolean {
  return first.toString('latin1', 0, CROWDED.length) === CROWDED
}

/**
 * Resolves to true when the server says, within a second, that it takes no more connections. A busy one takes them when our greeting
 * has come already, and closes them without reading it: then the system may throw away what it said. Who sends nothing hears it.
 */
export function isCrowdedAt({ host, port }: RedisOptions): Promise<boolean> {
  if (host === undefined || port === undefined) return Promise.resolve(false)
  const socket = connect({ host, port, timeout: LISTENED_MS_MAX })
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket.once('data', (first) => resolve(isCrowded(first)))
  for (const event of ['timeout', 'error', 'close']) socket.once(event, () => resolve(false))
  return promise.finally(() => socket.destroy())
}

/** Returns what a server means that takes no more connections, with what to do. */
export function crowded(shown: string): IsNotReady {
  return new IsNotReady(shown, {
    why: `it takes no more connections, as it has as many as its maxclients allows (max number of clients reached); ${NEEDED}. ${wayOut('Stop other clients, take a larger plan, or type there: redis-cli CONFIG SET maxclients 10000')}`,
    isFinal: false,
    question: 'CONFIG SET maxclients 10000',
  })
}

const NEEDED = 'a worker needs four, and more with a cluster (docs/guides/redis.md says which)'
