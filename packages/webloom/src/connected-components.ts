/** Built-in components that may need a connection to Redis. */

import {
  type ComponentClass,
  type Crawler,
  type DownloaderMiddleware,
  type ItemPipeline,
  type RedisRole,
  SettingsError,
} from '@webloom/core'
import {
  CookiesMiddleware,
  RedisCookieJarStore,
  RedisRobotsStore,
  RobotsTxtMiddleware,
  type RobotsTxtParts,
} from '@webloom/downloader'
import { RedisPipeline, redisPipelineFromCrawler } from '@webloom/spider'
import type { Redis } from 'ioredis'
import type { Builtin } from './loading/placed-components.ts'
import type { RedisServers } from './redis-servers.ts'

/** `redis` of ITEM_PIPELINES. */
export function redisPipeline(servers: RedisServers): Builtin<ItemPipeline> {
  return {
    name: 'redis',
    order: 300,
    scrapy: 'scrapy_redis.pipelines.RedisPipeline',
    isDefault: false,
    Class: madeBy(RedisPipeline, (crawler) =>
      redisPipelineFromCrawler(crawler, needed(servers, 'items', 'ITEM_PIPELINES names redis')),
    ),
  }
}

/** Cookies, whose jars all workers share with COOKIES_SHARED. */
export function cookies(servers: RedisServers): Builtin<DownloaderMiddleware> {
  return {
    name: 'cookies',
    order: 700,
    scrapy: 'scrapy.downloadermiddlewares.cookies.CookiesMiddleware',
    Class: madeBy(CookiesMiddleware, (crawler) => {
      if (!crawler.settings.getBool('COOKIES_SHARED')) return CookiesMiddleware.fromCrawler(crawler)
      const redis = needed(servers, 'queue', 'COOKIES_SHARED is true')
      return CookiesMiddleware.fromCrawler(crawler, RedisCookieJarStore.fromCrawler(crawler, redis))
    }),
  }
}

/** robots.txt, which workers share where the queue is on Redis. */
export function robotsTxt(
  servers: RedisServers,
  parts: Omit<RobotsTxtParts, 'store'>,
): Builtin<DownloaderMiddleware> {
  return {
    name: 'robotstxt',
    order: 100,
    scrapy: 'scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware',
    Class: madeBy(RobotsTxtMiddleware, (crawler) => {
      const redis = servers.connection('queue')
      return RobotsTxtMiddleware.fromCrawler(crawler, {
        ...parts,
        ...(redis && { store: RedisRobotsStore.fromCrawler(crawler, redis) }),
      })
    }),
  }
}

/** The class by which settings may name the component, made otherwise than by its own `fromCrawler`. */
export function madeBy<T>(
  Class: new (...args: never[]) => T,
  make: (crawler: Crawler) => T,
): ComponentClass<T> {
  return new Proxy(Class, {
    get: (target, property) => (property === 'fromCrawler' ? make : Reflect.get(target, property)),
  })
}

function needed(servers: RedisServers, role: RedisRole, because: string): Redis {
  const redis = servers.connection(role)
  if (redis) return redis
  throw new SettingsError([
    `${because}, and no Redis is named. Set REDIS_URL=redis://host:6379, or ${role.toUpperCase()}_REDIS_URL`,
  ])
}
