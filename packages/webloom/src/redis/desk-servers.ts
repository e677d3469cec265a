/** The Redis servers whose crawls somebody looks at, whatever these crawls are. */

import {
  type KeyPrefixes,
  keyPrefixesOf,
  Settings,
  silentLogger,
  UsageError,
  type WrittenSettings,
} from '@webloom/core'
import type { LoadedConfig } from '../loading/config.ts'
import { settingsLayers } from '../loading/crawl-flags.ts'
import { RedisServers } from './redis-servers.ts'

export interface DeskServerFlags {
  /** Servers of queues; default: the one that the settings name. */
  readonly redis?: readonly string[]
  readonly set?: readonly string[]
}

/** A server of queues, with those of the other roles as they are named here. */
export interface DeskServer {
  readonly servers: RedisServers
  /** Crawls with others are not seen. */
  readonly prefixes: KeyPrefixes
  /** The settings that name them. */
  readonly named: WrittenSettings
  /** Where `./file.ts#Export` in settings starts. */
  readonly folder: string
}

/**
 * Opens nothing. Throws `UsageError` where no Redis is named.
 *
 * @param line the command that looks
 */
export function deskServers(
  flags: DeskServerFlags,
  config: LoadedConfig | undefined,
  line = 'webloom dash',
): DeskServer[] {
  const urls = flags.redis ?? [undefined]
  return urls.map((url) => {
    const { layers, places } = settingsLayers(flags, config)
    const command = { ...layers.command, ...(url !== undefined && { REDIS_URL: url, QUEUE_REDIS_URL: url }) }
    const settings = Settings.fromLayers({ ...layers, command }, places)
    const servers = new RedisServers(settings, silentLogger, { opensLate: true })
    if (servers.targets('queue').length === 0) throw noRedisNamed(line)
    const named = redisNamesIn({ ...layers.config, ...layers.environment, ...command })
    return { servers, prefixes: keyPrefixesOf(settings), named, folder: config?.folder ?? process.cwd() }
  })
}

const NAMES_REDIS = /REDIS_URL$|^FILTER_URL$|^REDIS_(?:HOST|PORT|DB|PARAMS|KEY_PREFIX)$|^QUEUE_PREFIX$/

/** Returns whether a setting says which Redis is asked, and for which of its keys. */
export function namesRedis(name: string): boolean {
  return NAMES_REDIS.test(name)
}

function redisNamesIn(settings: WrittenSettings): WrittenSettings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => namesRedis(name)))
}

function noRedisNamed(line: string): UsageError {
  return new UsageError(
    'WL_USAGE',
    `no Redis is named, so there are no crawls to show. Name one:  ${line} --redis redis://127.0.0.1:6379  or set REDIS_URL`,
  )
}
