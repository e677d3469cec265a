import { keyPrefixesOf, Settings, silentLogger } from '@webloom/core'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { RedisServers } from '../redis/redis-servers.ts'
import { openPlaces } from './open-places.ts'
import type { SchedulePlace } from './schedule-places.ts'

function placeOf({ url }: RedisServer, name: string): SchedulePlace {
  const settings = Settings.fromLayers({ command: { REDIS_URL: url, REDIS_START_TIMEOUT: 0.3 } })
  const servers = new RedisServers(settings, silentLogger)
  return {
    servers,
    redis: servers.connection('queue')!,
    prefixes: keyPrefixesOf(settings),
    shown: url,
    spiders: [{ name, Class: class {} as never }],
    anew: () => placeOf({ url } as RedisServer, name),
  }
}

test('servers that are there are served at once, and one that is away when it is there; with none there it ends', async () => {
  await using there = await startRedis()
  await using away = await startRedis()
  await away.kill()
  const ending = new AbortController()
  const open: SchedulePlace[] = []
  const opened = async (place: SchedulePlace) => void open.push(place)
  const [warn, info] = [vi.fn(), vi.fn()]
  const options = { opened, signal: ending.signal, logger: { ...silentLogger, warn, info } }
  await expect(openPlaces([placeOf(away, 'quotes')], options)).rejects.toThrow(/Is it running there/)
  await openPlaces([placeOf(away, 'quotes'), placeOf(there, 'books')], options)
  expect(open.map(({ shown }) => shown)).toEqual([there.url])
  await vi.waitFor(() =>
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^not served now: quotes\. Redis at/)),
  )
  await away.restart()
  await vi.waitFor(() => expect(info).toHaveBeenCalledWith(expect.stringContaining('serves quotes, too')))
  expect(open.map(({ shown }) => shown)).toEqual([there.url, away.url])
  ending.abort()
  for (const { servers } of open) servers.close()
})
