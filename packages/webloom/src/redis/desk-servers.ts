/** The Redis servers whose crawls somebody looks at, whatever these crawls are. */

import { Settings, silentLogger, UsageError } from '@webloom/core'
import type { LoadedConfig } from '../loading/config.ts'
import { settingsLayers } from '../loading/crawl-flags.ts'
import { RedisServers } from './redis-servers.ts'

export interface DeskServerFlags {
  /** Servers of queues; default: the one that the settings name. */
  readonly redis?: readonly string[]
  readonly set?: readonly string[]
}

/** A server of queues, with those of the other roles, as whoever looks knows them. */
export interface DeskServer {
  readonly servers: RedisServers
  /** Where `./file.ts#Export` in settings starts. */
  readonly folder: string
}

/** Opens nothing. Throws `UsageError` where no Redis is named. */
export function deskServers(flags: DeskServerFlags, config: LoadedConfig | undefined): DeskServer[] {
  const urls = flags.redis ?? [undefined]
  return urls.map((url) => {
    const { layers, places } = settingsLayers(flags, config)
    const command = { ...layers.command, ...(url !== undefined && { REDIS_URL: url, QUEUE_REDIS_URL: url }) }
    const settings = Settings.fromLayers({ ...layers, command }, places)
    const servers = new RedisServers(settings, silentLogger)
    if (servers.targets('queue').length === 0) throw noRedisNamed()
    return { servers, folder: config?.folder ?? process.cwd() }
  })
}

function noRedisNamed(): UsageError {
  return new UsageError(
    'WL_USAGE',
    'no Redis is named, so there are no crawls to show. Name one:  webloom dash --redis redis://127.0.0.1:6379  or set REDIS_URL',
  )
}
