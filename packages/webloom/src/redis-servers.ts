import {
  type Logger,
  type ProtocolTimes,
  type RedisRole,
  type RedisTarget,
  redisTargets,
  type Settings,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { RedisLink } from './redis-connection.ts'

const ROLES: readonly RedisRole[] = ['queue', 'dupefilter', 'seeds', 'items']

/** The connections of one process, by role. Roles that the settings send to the same server share one. */
export class RedisServers {
  readonly #settings: Settings
  readonly #logger: Logger
  readonly #times: ProtocolTimes | undefined
  readonly #links = new Map<string, RedisLink>()

  constructor(settings: Settings, logger: Logger, times?: ProtocolTimes) {
    this.#settings = settings
    this.#logger = logger
    this.#times = times
  }

  /** The servers that the settings name for a role: none without Redis, several for a sharded dupefilter. */
  targets(role: RedisRole): readonly RedisTarget[] {
    return redisTargets(this.#settings, role)
  }

  /** The role's connection, which `open` opens; undefined when the settings name no Redis for it. */
  connection(role: RedisRole): Redis | undefined {
    const [target] = this.targets(role)
    return target && this.to(target)
  }

  /** The connection to that server. */
  to(target: RedisTarget): Redis {
    const key = JSON.stringify(target.options)
    const known = this.#links.get(key)
    if (known) return known.client
    const link = new RedisLink(target, {
      startTimeoutMs: this.#settings.getFloat('REDIS_START_TIMEOUT') * 1000,
      logger: this.#logger,
      roles: this.#rolesOf(key),
      times: this.#times,
    })
    this.#links.set(key, link)
    return link.client
  }

  /** What the settings send to that server, whether it is asked for here or not. */
  #rolesOf(key: string): RedisRole[] {
    return ROLES.filter((role) => this.targets(role).some((target) => JSON.stringify(target.options) === key))
  }

  /** Throws WL_REDIS_UNREACHABLE when one of them does not answer within REDIS_START_TIMEOUT. */
  async open(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.open()))
  }

  close(): void {
    for (const link of this.#links.values()) link.close()
  }
}
