/**
 * Where the schedules of a project are: on each Redis on which one of its spiders has its queue. Spiders may name servers of their own; most
 * do not, so that there is one place for all.
 */

import {
  type KeyPrefixes,
  keyPrefixesOf,
  type Logger,
  redisTargets,
  Settings,
  UsageError,
} from '@webloom/core'
import { createSpider, type SpiderClass } from '@webloom/spider'
import type { Redis } from 'ioredis'
import { crawlBaseOf, spiderSettings } from '../assembly/crawl-base.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { type CrawlFlags, givenSettings, settingsLayers, spiderArguments } from '../loading/crawl-flags.ts'
import { loadProjectSpiders } from '../loading/spider-loader.ts'
import { RedisServers } from '../redis/redis-servers.ts'

/** A spider whose crawl is on Redis. */
export interface PlacedSpider {
  readonly name: string
  readonly Class: SpiderClass
}

export interface SchedulePlace {
  readonly servers: RedisServers
  /** Of queues. */
  readonly redis: Redis
  readonly prefixes: KeyPrefixes
  /** The server's address, without its password. */
  readonly shown: string
  readonly spiders: readonly PlacedSpider[]
  /** The same over connections of its own: those of servers that could not be opened are closed for good. */
  anew(): SchedulePlace
}

export interface SchedulePlaces {
  readonly places: readonly SchedulePlace[]
  /** Spiders that no worker can serve, and why; files that could not be loaded. */
  readonly problems: readonly string[]
}

type Found = Omit<SchedulePlace, 'spiders'> & { readonly spiders: PlacedSpider[] }

/** Opens nothing. Throws `UsageError` where no Redis is named. */
export async function schedulePlaces(
  flags: Pick<CrawlFlags, 'set' | 'argument'>,
  config: LoadedConfig,
  logger: Logger,
): Promise<SchedulePlaces> {
  const args = spiderArguments(flags)
  const { spiders, problems } = await loadProjectSpiders(config, args, givenSettings(flags))
  const found = new Map<string, Found>()
  const unserved = [...problems]
  const written = settingsLayers(flags, config)
  // Schedules of spiders that are no longer in the project are there, too.
  place(found, Settings.fromLayers(written.layers, written.places), logger)
  for (const { name, Class } of spiders) {
    try {
      const settings = spiderSettings(createSpider(Class, args), crawlBaseOf(flags, config))
      if (settings.get('JOBDIR') !== null)
        unserved.push(`${name} has a JOBDIR, which is for one process: unset it for webloom worker --all`)
      else place(found, settings, logger)?.spiders.push({ name, Class })
    } catch (error) {
      unserved.push(`${name}: ${(error as Error).message}`)
    }
  }
  if (found.size > 0) return { places: [...found.values()], problems: unserved }
  throw new UsageError(
    'WL_USAGE',
    'schedules are kept on Redis, and none is named. Set REDIS_URL=redis://host:6379, or use cron without Redis:  0 6 * * * cd /srv/my-crawler && npx webloom crawl quotes',
  )
}

/** Undefined for settings that name no Redis for queues. */
function place(found: Map<string, Found>, settings: Settings, logger: Logger): Found | undefined {
  const [target] = redisTargets(settings, 'queue')
  if (!target) return undefined
  const prefixes = keyPrefixesOf(settings)
  const key = JSON.stringify([target.options, redisTargets(settings, 'seeds')[0]?.options, prefixes])
  const known = found.get(key)
  if (known) return known
  const spiders: PlacedSpider[] = []
  const make = (): Found => {
    const servers = new RedisServers(settings, logger)
    const redis = servers.connection('queue')!
    return { servers, redis, prefixes, shown: target.shown, spiders, anew: make }
  }
  const made = make()
  found.set(key, made)
  return made
}
