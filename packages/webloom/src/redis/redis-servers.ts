import {
  asksFor,
  checkRedisRole,
  crawlNameOf,
  keyPrefixesOf,
  type Logger,
  noRedis,
  type ProtocolTimes,
  REDIS_ROLES,
  type RedisClient,
  type RedisRole,
  type RedisTarget,
  redisTargets,
  type Settings,
  SettingsError,
} from '@webloom/core'
import { crawlRedisKeys } from '@webloom/queue'
import { endUnanswered } from './cluster-look.ts'
import type { OnHopeless } from './lasting-trouble.ts'
import type { PlacesAsked } from './missing-rights.ts'
import { RedisLink } from './redis-connection.ts'
import { servesNow } from './redis-readiness.ts'
import { Outages } from './redis-refusal.ts'

/** Whoever waits for a Redis that does not answer at first hears of it after that. */
const WAIT_TOLD_MS = 2000

interface RedisServersOptions {
  readonly spider?: string
  readonly times?: ProtocolTimes | undefined
  /** No crawl runs here: a node of a cluster that does not let us in, or is away, is not waited for. */
  readonly isOutside?: boolean
  /** Nobody waits for `open`: each is opened by its first command. */
  readonly opensLate?: boolean
}

/**
 * The connections of one process, by role. Roles that the settings send to the same server share one, but for the
 * dupefilter, whose questions go beside the commits of the queue.
 */
export class RedisServers {
  readonly #settings: Settings
  readonly #logger: Logger
  readonly #spider: string | undefined
  readonly #times: ProtocolTimes | undefined
  readonly #isOutside: boolean
  readonly #links = new Map<string, RedisLink>()
  /** The first call of `open` has been. */
  #isOpen: boolean
  /** Components are being closed. */
  #isClosing = false
  #isClosed = false
  /** Two connections may lead to one server. */
  readonly #told = new Set<string>()
  /** Those that did not answer at first, and of which that was told. */
  readonly #waitedFor = new Set<string>()
  readonly #outages = new Outages()
  /** Nodes of clusters that a command has waited for in vain. */
  readonly #givenUp = new Map<string, Promise<Error>>()
  #onHopeless: OnHopeless | undefined

  constructor(
    settings: Settings,
    logger: Logger,
    { spider, times, isOutside = false, opensLate = false }: RedisServersOptions = {},
  ) {
    this.#settings = settings
    this.#logger = logger
    this.#spider = spider
    this.#times = times
    this.#isOutside = isOutside
    this.#isOpen = opensLate
  }

  /** `redis` of the crawl's `Crawler`. */
  readonly redis = (role: RedisRole, because?: string): RedisClient => {
    checkRedisRole(role, because)
    const [target, ...others] = this.targets(role)
    if (!target) return noRedis(role, because)
    if (others.length === 0) return this.#linkTo(target, role).shared.client
    throw new SettingsError([
      `${target.setting} names ${others.length + 1} servers, and ${because ?? `a component ${asksFor(role)}`}. A component gets one connection, and so one server: name one, or use a dupefilter that extends RedisDupeFilter, of which one is made for each server`,
    ])
  }

  /** The servers that the settings name for a role: none without Redis, several for a sharded dupefilter. */
  targets(role: RedisRole): readonly RedisTarget[] {
    return redisTargets(this.#settings, role)
  }

  /** Calls it when the crawl must end, as a server has had it wait in vain for too long, or does not let it in any more. */
  onHopeless(listener: OnHopeless): void {
    this.#onHopeless = listener
  }

  /** The role's connection; undefined when the settings name no Redis for it. */
  connection(role: RedisRole): RedisClient | undefined {
    const [target] = this.targets(role)
    return target && this.to(target, role)
  }

  /** The role's connection once it answers; throws what `open` throws. For a command that may be the first who asks for that server. */
  async opened(role: RedisRole): Promise<RedisClient | undefined> {
    const [target] = this.targets(role)
    if (!target) return undefined
    const link = this.#linkTo(target, role, false)
    await this.#openLink(placeOf(target, role), link)
    return link.client
  }

  async #openLink(place: string, link: RedisLink, written?: PlacesAsked): Promise<void> {
    const seconds = this.#settings.getMs('REDIS_START_TIMEOUT') / 1000
    const toTell = setTimeout(() => {
      if (this.#waitedFor.has(link.shown)) return
      this.#waitedFor.add(link.shown)
      const line = `Redis has not answered yet; it is waited for, ${seconds} s in all (REDIS_START_TIMEOUT)`
      this.#logger.warn({ redis: link.shown }, line)
    }, WAIT_TOLD_MS)
    try {
      await link.open(written)
    } catch (error) {
      // A dashboard asks again, and its server may be there by then.
      if (this.#links.get(place) === link) this.#links.delete(place)
      throw error
    } finally {
      clearTimeout(toTell)
    }
  }

  /** The connection to that server. One that is asked for after `open` is opened by its first command. */
  to(target: RedisTarget, role: RedisRole): RedisClient {
    return this.#linkTo(target, role).client
  }

  #linkTo(target: RedisTarget, role: RedisRole, isLate = this.#isOpen): RedisLink {
    const place = placeOf(target, role)
    const known = this.#links.get(place)
    known?.useFor(role)
    if (known) return known
    if (this.#isClosed) throw new Error(`the crawl has ended, and its connections are closed (role ${role})`)
    const link = new RedisLink(target, {
      startTimeoutMs: this.#settings.getMs('REDIS_START_TIMEOUT'),
      logger: this.#logger,
      roles: this.#rolesAt(target),
      whose: { spider: this.#spider, ...keyPrefixesOf(this.#settings) },
      times: this.#times,
      isLate,
      isOutside: this.#isOutside,
      told: this.#told,
      outages: this.#outages,
      onHopeless: () => this.#onHopeless,
    })
    link.useFor(role)
    if (this.#isOutside) endUnanswered(link.client, target, this.#givenUp)
    this.#links.set(place, link)
    if (this.#isClosing) link.shared.hurry()
    return link
  }

  /** The connections to a role's servers that somebody has asked for. */
  used(role: RedisRole): readonly RedisClient[] {
    return this.targets(role).flatMap((target) => this.#links.get(placeOf(target, role))?.client ?? [])
  }

  /** Resolves to a server of those in use that does not answer now, or takes no writes; undefined when all do. */
  async silent(): Promise<string | undefined> {
    const links = [...this.#links.values()]
    const serve = await Promise.all(links.map(({ client }) => servesNow(client)))
    return links.find((_link, n) => !serve[n])?.shown
  }

  /** What the settings send to that server, whether it is asked for here or not: one user has the rights for all of it. */
  #rolesAt({ options }: RedisTarget): RedisRole[] {
    const place = JSON.stringify(options)
    return REDIS_ROLES.filter((role) =>
      this.targets(role).some((target) => JSON.stringify(target.options) === place),
    )
  }

  /**
   * Opens those that were asked for until now. Throws WL_REDIS_UNREACHABLE when one of them does not answer within
   * REDIS_START_TIMEOUT, or with `forWriting` takes no writes for all of that time, and WL_REDIS_REFUSED when with `forWriting` a user
   * lacks a right that the crawl needs.
   */
  async open({ forWriting = false } = {}): Promise<void> {
    this.#isOpen = true
    await Promise.all(
      [...this.#links].map(([place, link]) =>
        this.#openLink(place, link, forWriting ? this.#written() : undefined),
      ),
    )
  }

  /** What a crawl of these settings writes on the queue's server. */
  #written(): PlacesAsked {
    if (this.#spider === undefined) return {}
    const { base } = crawlRedisKeys(crawlNameOf(this.#settings, this.#spider))
    return { keys: [`${base}:frontier`], channels: [`${base}:asked`] }
  }

  /** The crawl is closing its components: from now on a Redis that hangs lets their commands wait for a few seconds only. */
  hurryComponents(): void {
    this.#isClosing = true
    for (const { shared } of this.#links.values()) shared.hurry()
  }

  close(): void {
    this.#isClosed = true
    for (const link of this.#links.values()) link.close()
  }
}

/** Returns a text that is the same for roles that share a connection. */
function placeOf({ options }: RedisTarget, role: RedisRole): string {
  return JSON.stringify([role === 'dupefilter', options])
}
