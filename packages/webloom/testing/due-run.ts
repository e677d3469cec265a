/** A project whose spider has a run that is due, and a webhook that is told what becomes of it. */

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { keyPrefixesOf, type Logger, Settings, silentLogger } from '@webloom/core'
import { CrawlSchedules, crawlRedisKeys } from '@webloom/queue'
import { Spider } from '@webloom/spider'
import type { InUse, RedisServer } from '@webloom/testkit'
import { expect, vi } from 'vitest'
import type { LoadedConfig } from '../src/loading/config.ts'
import { RedisServers } from '../src/redis/redis-servers.ts'
import { ProjectCrawls, type ProjectCrawlsOptions } from '../src/schedules/project-crawls.ts'
import type { SchedulePlace } from '../src/schedules/schedule-places.ts'
import { tryWorker } from '../src/schedules/try-worker.ts'

export const tries: ProjectCrawlsOptions['tries'] = ({ Class }, _flags, { base }) => tryWorker(Class, base)

/** A webhook that refuses the first texts for now; the text that it takes, and all that it was sent. */
export async function startWebhook(used: InUse, refused = 0) {
  const { promise: told, resolve } = Promise.withResolvers<string>()
  const sent: string[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request.setEncoding('utf8')) text += part
    response.statusCode = sent.push(text) > refused ? 200 : 500
    response.end('ok')
    if (response.statusCode === 200) resolve(text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  used.use({ [Symbol.asyncDispose]: async () => void server.close().closeAllConnections() })
  return { told, sent, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

const SENT_AT_ONCE = `const socket = require('node:net').connect(Number(process.argv[1]), '127.0.0.1')
socket.end(process.argv[2] + '\\r\\n').resume()`

/** Sends a command to a server before anything else happens in this process. */
export function atOnce({ port }: RedisServer, command: string): void {
  spawnSync(process.execPath, ['-e', SENT_AT_ONCE, String(port), command])
}

/** A project whose spider has a run that is due: what is called when its spider is made for it, and at each line of the log. */
export async function dueOf(
  used: InUse,
  server: RedisServer,
  {
    onSpider = () => {},
    onLine = () => {},
    set = [],
    settings: own = {},
    tried = tries,
  }: {
    onSpider?: () => void
    onLine?: (line: string) => void
    set?: readonly string[]
    settings?: LoadedConfig['settings']
    tried?: ProjectCrawlsOptions['tries']
  },
) {
  const lines: string[] = []
  const fields: unknown[] = []
  const log = (first: object | string, text = '') => {
    fields.push(first)
    const line = typeof first === 'string' ? first : text
    lines.push(line)
    onLine(line)
  }
  const logger: Logger = { debug() {}, info: log, warn: log, error: log, child: () => logger }
  class Due extends Spider {
    override name = 'due'
    by?: string
    constructor(args: Readonly<Record<string, string>> = {}) {
      super(args)
      if (args.by === 'schedule') onSpider()
    }
    override async *parse() {}
  }
  const settings = Settings.fromLayers({ command: { REDIS_URL: server.url } })
  const servers = new RedisServers(settings, silentLogger)
  used.use({ [Symbol.asyncDispose]: async () => servers.close() })
  await servers.open({ forWriting: true })
  const redis = servers.connection('queue')!
  const prefixes = keyPrefixesOf(settings)
  const schedules = new CrawlSchedules(redis, prefixes)
  const schedule = { name: 'daily', spider: 'due', crawlId: null, cron: '0 6 * * *', tz: 'UTC' }
  await schedules.set({
    ...schedule,
    flags: { argument: ['by=schedule'], set: [`REDIS_URL=${server.url}`, ...set] },
  })
  await schedules.runNow('daily')
  const place: SchedulePlace = {
    ...{ servers, redis, prefixes, shown: server.url, spiders: [{ name: 'due', Class: Due }] },
    anew: () => place,
  }
  const config = { path: '/srv/webloom.config.ts', folder: '/srv', spiders: [], settings: own }
  const crawls = new ProjectCrawls({
    flags: {},
    config,
    logger,
    tries: tried,
    othersJoinMs: 0,
    toldAgainMs: 10,
    schedulesReadMs: 0,
  })
  used.use({ [Symbol.asyncDispose]: () => crawls.close() })
  await crawls.add(place)
  /** The same in a process that comes later. */
  const anew = async () => {
    const later = new ProjectCrawls({
      flags: {},
      config,
      logger,
      tries: tried,
      toldAgainMs: 10,
      schedulesReadMs: 0,
    })
    used.use({ [Symbol.asyncDispose]: () => later.close() })
    await later.add(place)
    return later
  }
  const lastFire = async () => (await schedules.all())[0]!.last
  const lookedUntil = (says: string) =>
    vi.waitFor(async () => {
      await crawls.look()
      expect(lines.join('\n')).toContain(says)
    }, 20_000)
  return {
    crawls,
    schedules,
    anew,
    lines,
    fields,
    lastFire,
    lookedUntil,
    redis,
    keys: crawlRedisKeys({ spider: 'due', crawlId: null, ...prefixes }),
  }
}
