import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  askMasters,
  isRedisFull,
  type Logger,
  namesSpares,
  newRedisClient,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  type RedisRole,
  type RedisTarget,
  WebloomError,
  withDeadline,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { isSentinelAmong, lockedAtMaster, lockedNodeOf, lockedOutOf, lookAtCluster } from './cluster-look.ts'
import { infoWhenReady } from './info-when-ready.ts'
import { crowded, isCrowdedAt, LastingTrouble, type OnHopeless } from './lasting-trouble.ts'
import { type PlacesAsked, rightsRefusal } from './missing-rights.ts'
import { IsNotReady, loadingIn, type NotReady, notReady, ponged } from './redis-readiness.ts'
import {
  explain,
  explainLogin,
  IsReplica,
  isClusterNode,
  isExplained,
  isLoginRefused,
  isSentinel,
  loginRefusalOf,
  type MasterPlace,
  masterOfReplica,
  missingRight,
  missingRightOf,
  NO_REDIS,
  NodeRefusals,
  Outages,
  outageInWords,
  outageNotes,
  sentinelRefusal,
  serverRefusal,
  triesToReconnect,
} from './redis-refusal.ts'
import { aclLine, type RightsFor } from './redis-rights.ts'
import {
  clusterInstead,
  IsLockedAtMaster,
  IsRefused,
  noDatabase,
  type Refusal,
  sentinelInstead,
} from './refusal.ts'
import { SharedClient } from './shared-client.ts'
import { isTlsRefusal, tlsRefusal, tlsRefusalAt } from './tls-refusal.ts'

/** As ioredis makes it; `command` is absent when it was not a command that failed. */
type ReplyError = Error & {
  readonly code?: string
  readonly command?: { readonly name: string; args: readonly unknown[] }
}

/** A replica says so; before Redis 7 within the reply of a script. */
const READ_ONLY = /^READONLY\b|\s-READONLY /

const WITHOUT_REPLICAS = /^NOREPLICAS\b|\s-NOREPLICAS /

/** How often Sentinels are asked for the master at most, while the one that we have takes no writes. */
const SENTINELS_ASKED_MS = 1000

/** A cluster that lets nobody in is asked why. */
const CLUSTER_LOOK_MS_MAX = 1500

/** How often a replica is asked whether it has become the master. */
const REPLICA_ASKED_MS = 250

/** One connection to a Redis, from the start of a crawl to its end. Lost in between, it waits until Redis is back. */
export class RedisLink {
  /** For the crawl's own parts. */
  readonly client: Redis
  /** The same connection, for components. */
  readonly shared: SharedClient
  readonly #target: RedisTarget
  readonly #startTimeoutMs: number
  readonly #aclLine: string
  readonly #whose: RightsFor
  readonly #usedFor = new Set<RedisRole>()
  readonly #logger: Logger
  readonly #isOutside: boolean
  readonly #trouble: LastingTrouble
  /** Rejects when the server does not let us into the database. */
  readonly #refused = Promise.withResolvers<never>()
  readonly #nodes = new NodeRefusals()
  #lastError: Error | undefined
  /** Of the replica that has answered `open`. */
  #master: MasterPlace | undefined
  /** Why what has answered `open` cannot be used, and what to do. */
  #notReady: NotReady | undefined
  /** Why no Sentinel tells the master. */
  #sentinelRefusal: Refusal | undefined
  readonly #outages: Outages
  /** Trouble is told as it comes. */
  #isOpen: boolean
  #isChecked = false
  #askedSentinelsAtMs = Number.NEGATIVE_INFINITY

  constructor(
    target: RedisTarget,
    {
      startTimeoutMs,
      logger,
      roles,
      whose = {},
      times = PROTOCOL_TIMES,
      isLate = false,
      isOutside = false,
      told = new Set(),
      outages = new Outages(),
      onHopeless = () => undefined,
    }: {
      startTimeoutMs: number
      logger: Logger
      /** What it is for: the rights that its user needs there follow. */
      roles: readonly RedisRole[]
      /** Whose crawl it is for. */
      whose?: RightsFor
      times?: ProtocolTimes | undefined
      /** Opened by its first command while the crawl runs, and not by `open` before it. */
      isLate?: boolean
      /** It runs no crawl, which could wait for a node of a cluster. */
      isOutside?: boolean
      /** What was told of lasting trouble with the server, by any connection to it. */
      told?: Set<string>
      /** Of all connections of the process. */
      outages?: Outages
      /** Returns whom to call when the crawl must end; undefined where none runs. */
      onHopeless?: () => OnHopeless | undefined
    },
  ) {
    ;[this.#isOpen, this.#isOutside] = [isLate, isOutside]
    this.#outages = outages
    this.#target = target
    this.#startTimeoutMs = startTimeoutMs
    this.#whose = whose
    this.#aclLine = aclLine(roles, { ...whose, isCluster: target.options.nodes !== undefined })
    this.#logger = logger
    // Loaded by the first who has a Redis: others start sooner without it.
    const ioredis = createRequire(import.meta.url)('ioredis') as typeof import('ioredis')
    this.client = newRedisClient(ioredis, target.options, {
      lazyConnect: true,
      followsSentinels: !isOutside,
      // A command waits for its server: a crawl pauses while Redis is away, and loses nothing.
      maxRetriesPerRequest: null,
      retryStrategy: triesToReconnect(target.options, times),
      // A Redis that reads its file tells how long that takes; ioredis would wait for up to ten seconds.
      maxLoadingRetryTime: times.redis.reconnectMsMax,
      // After a fail-over the address may lead to the new master: connect again, and send the command again.
      reconnectOnError: (error: ReplyError) => {
        if (this.#metRefusedLogin(error)) return 2
        this.#explain(error)
        if (WITHOUT_REPLICAS.test(error.message)) this.#askSentinelsAgain()
        if (!READ_ONLY.test(error.message)) return false
        if (this.#isOpen && !namesSpares(target.options)) this.#trouble.onReadOnly()
        const { refusal } = this.#trouble
        // Whoever has sent it hears why, and does not send it again.
        if (refusal) Object.assign(error, { message: refusal.message, code: refusal.code })
        return refusal ? false : 2
      },
    })
    this.#trouble = new LastingTrouble({
      client: this.client,
      shown: target.shown,
      setting: target.setting,
      logger,
      told,
      lockedOut: (look) => lockedOutOf(target, this.#aclLine, CLUSTER_LOOK_MS_MAX, look),
      msMax: Math.max(startTimeoutMs, times.redis.troubleMsMax),
      lockedMsMax: namesSpares(target.options) ? Math.max(startTimeoutMs, times.redis.troubleMsMax) : 0,
      onHopeless,
    })
    if (!target.options.nodes)
      infoWhenReady(this.client, (info) => {
        const why = loadingIn(info)
        this.#notReady = why === undefined ? undefined : { why, isFinal: false }
      })
    this.shared = new SharedClient(this.client, target.options.db ?? 0)
    this.client.on('error', (error: Error) => this.#onError(error))
    this.client.on('sentinelError', ({ message }: Error) => {
      this.#sentinelRefusal = sentinelRefusal(message, target.options, target.setting)
    })
    this.client.on('ready', () => this.#onReady())
    // Of interest to `open` alone.
    this.#refused.promise.catch(() => {})
  }

  /**
   * Throws WL_REDIS_UNREACHABLE when Redis does not answer within REDIS_START_TIMEOUT, or is a replica for all of that time,
   * WL_REDIS_REFUSED when it does not let us in, and `SettingsError` when it has no database of that number. Once it is open,
   * another call does nothing.
   *
   * @param writes what will be written: then a server that takes no writes until a replica is there is waited for, too, and a user
   *   without the rights for it is refused
   */
  async open(writes?: PlacesAsked): Promise<void> {
    if (this.#isChecked) return
    const { client } = this
    const asked = async () => {
      await Promise.race([ponged(client), this.#refused.promise])
      return this.#infoOfMaster(writes !== undefined)
    }
    this.client.once('error', () => this.#askForOtherKind())
    try {
      const info = await this.#inTime(asked())
      if (isSentinel(info)) throw sentinelInstead(this.#target)
      if (isClusterNode(info) && !this.#target.options.nodes) throw clusterInstead(this.#target)
      if (writes) await this.#inTime(this.#askForRights(writes))
    } catch (error) {
      const thrown = error instanceof WebloomError ? error : this.#unreachable(error)
      const trouble = await this.#troubleUnheard(thrown)
      // The others tell what they have; whoever needs that one is told of it.
      if (writes || !(trouble instanceof IsLockedAtMaster)) {
        client.disconnect()
        throw trouble ?? thrown
      }
    }
    this.#isOpen = true
    this.#isChecked = true
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    return withDeadline(this.#startTimeoutMs, work, () => this.#unreachable())
  }

  /** What the client does not tell: which node keeps us from the cluster, and that a busy server has no connection for us. */
  async #troubleUnheard(thrown: WebloomError): Promise<WebloomError | undefined> {
    const { options, shown } = this.#target
    const isTold = thrown instanceof IsNotReady || thrown instanceof IsReplica
    if (options.nodes && thrown instanceof IsRefused) {
      if (await isSentinelAmong(options, CLUSTER_LOOK_MS_MAX)) return sentinelInstead(this.#target)
      return lockedAtMaster(await lookAtCluster(options, CLUSTER_LOOK_MS_MAX), this.#target, this.#aclLine)
    }
    if (isTold || thrown.code !== 'WL_REDIS_UNREACHABLE') return undefined
    if (!options.nodes) return (await isCrowdedAt(options)) ? crowded(shown) : undefined
    const { troubles } = await lookAtCluster(options, CLUSTER_LOOK_MS_MAX)
    const [worst] = troubles.filter(({ isFatal }) => isFatal)
    return worst && new IsNotReady(shown, { why: `${worst.why}. See: ${worst.type}`, isFinal: false })
  }

  /** Where it leads, without password. */
  get shown(): string {
    return this.#target.shown
  }

  /** What this connection is for, of all that the user needs rights for there. */
  useFor(role: RedisRole): void {
    this.#usedFor.add(role)
  }

  /**
   * A right that is missing would end the crawl in its middle. Nothing has been written.
   *
   * @param places of the queue: what other roles write may have any name
   */
  async #askForRights(places: PlacesAsked): Promise<void> {
    const at = { shown: this.#target.shown, aclLine: this.#aclLine }
    const asked = this.#usedFor.has('queue') ? places : {}
    const refusal = await rightsRefusal(this.client, [...this.#usedFor], asked, this.#whose, at)
    if (refusal) throw refusal
  }

  /** What is named may be a server of another kind, which the client is not told. */
  async #askForOtherKind(): Promise<void> {
    const { options } = this.#target
    const refusal = await tlsRefusalAt(options, this.#startTimeoutMs)
    if (refusal) this.#refused.reject(this.#unreachable(refusal))
    else if (await isSentinelAmong(options, CLUSTER_LOOK_MS_MAX))
      this.#refused.reject(sentinelInstead(this.#target))
  }

  close(): void {
    this.#trouble.close()
    this.shared.close()
    this.client.disconnect()
  }

  /**
   * A master that has lost its replicas may have been replaced meanwhile, by one that it does not know of: a network that was cut
   * leaves it and us on one side. Connections that were made of this one come with it.
   */
  #askSentinelsAgain(): void {
    const isSoon = performance.now() - this.#askedSentinelsAtMs < SENTINELS_ASKED_MS
    if (!this.#target.options.sentinels || isSoon || this.client.status !== 'ready') return
    this.#askedSentinelsAtMs = performance.now()
    this.client.disconnect(true)
  }

  /**
   * Resolves to what INFO says once the server takes writes. A replica refuses them, and each command would be sent again for
   * ever: in a fail-over the address may soon lead to the new master.
   */
  async #infoOfMaster(forWriting: boolean): Promise<string> {
    for (;;) {
      const info = await this.client.info()
      this.#master = masterOfReplica(info)
      this.#notReady = forWriting && !this.#master ? await this.#troubleIn(info) : undefined
      if (this.#notReady?.isFinal) throw this.#unreachable()
      if (!this.#master && !this.#notReady) return info
      if (this.#master) this.client.disconnect(true)
      await sleep(REPLICA_ASKED_MS)
    }
  }

  async #troubleIn(info: string): Promise<NotReady | undefined> {
    const { client } = this
    const infos = client.isCluster ? await askMasters(client, (server) => server.info()) : [info]
    return notReady(infos, async () => (await ponged(client)) !== 'MISCONF')
  }

  /**
   * Here each error of a reply comes by before whoever sent the command has it, on the connections that BullMQ and others
   * make of this one, too: whatever is logged of it then says what is missing.
   */
  #explain(error: ReplyError): void {
    if (isExplained(error)) return
    const { shown, setting, options } = this.#target
    const asked = error.command ? `${error.command.name.toUpperCase()} at ${shown}` : shown
    // What was sent may be a password (AUTH, HELLO), and errors are logged whole.
    if (error.command) error.command.args = []
    // Of several servers it must be known which one is full.
    if (isRedisFull(error) && !error.message.includes(shown)) error.message += ` (${asked})`
    const missing = missingRight(error.message, asked, this.#aclLine)
    if (missing) explain(error, missing)
    // Before that `open` tells it.
    else if (this.#isOpen) explainLogin(error, shown, setting, lockedNodeOf(error, options, this.#aclLine))
  }

  /** Has a server that does not let us in looked at. Returns whether what was sent there waits: one of several may be given the user. */
  #metRefusedLogin(error: ReplyError): boolean {
    if (!this.#isOpen || !isLoginRefused(error)) return false
    // The other nodes tell the rest meanwhile.
    if (this.#target.options.nodes && this.#isOutside) return false
    this.#trouble.onLoginRefused()
    return namesSpares(this.#target.options) && this.#trouble.waitsForLogin
  }

  #onError(error: ReplyError): void {
    if (error.command?.name === 'select') {
      // ioredis would go on, and all that is written would be in database 0.
      this.client.disconnect(true)
      this.#refused.reject(noDatabase(this.#target, error))
    }
    if (!this.#isOpen && (isTlsRefusal(error) || this.#nodes.areAllToldBy(error)))
      this.#refused.reject(this.#unreachable(error))
    const isMet = this.#metRefusedLogin(error)
    // The crawl ends for it, and says so; or what was asked is refused.
    if (isMet || (this.#isOpen && isLoginRefused(error) && this.#trouble.isAwaited)) return
    // Before the first answer `open` tells.
    const { shown, options } = this.#target
    const reason = outageInWords(error)
    if (this.#isOpen && this.#outages.isNews(shown, reason))
      this.#logger.warn({ redis: shown, reason }, outageNotes(options).away)
    this.#lastError = error
  }

  /** What it was away for may come again, and is told again. */
  #onReady(): void {
    const { shown, options } = this.#target
    if (!this.#outages.end(shown)) return
    this.#lastError = undefined
    this.#logger.info({ redis: shown }, outageNotes(options).back)
  }

  #unreachable(error: unknown = this.#lastError): WebloomError {
    const { shown, setting, options } = this.#target
    if (this.#master) return new IsReplica(shown, setting, this.#master)
    if (this.#trouble.crowd) return this.#trouble.crowd
    if (this.#notReady) return new IsNotReady(shown, this.#notReady)
    // ioredis's own first INFO fails by another way.
    if (error instanceof Error) this.#explain(error)
    const cause =
      error instanceof Error
        ? outageInWords(error) || String((error as NodeJS.ErrnoException).code)
        : 'no answer'
    const refused = missingRightOf(error)
      ? { why: cause }
      : (this.#sentinelRefusal ??
        loginRefusalOf(error) ??
        serverRefusal(cause, setting) ??
        tlsRefusal(cause, setting))
    // Whoever was answered with a refusal need not ask whether it runs, nor try again.
    if (refused) return new IsRefused(shown, refused, error)
    const question = cause.startsWith(NO_REDIS)
      ? `At which port is one? ${setting} is to name it`
      : 'Is it running there, and may this machine reach it?'
    return new WebloomError(
      'WL_REDIS_UNREACHABLE',
      `Redis at ${shown} cannot be used: ${cause}. ${question} (REDIS_START_TIMEOUT is ${this.#startTimeoutMs / 1000} s; passwords go into the URL; ${options.tls ? 'rediss:// needs a port where TLS is spoken' : 'TLS needs rediss://'})`,
      { cause: error },
    )
  }
}
