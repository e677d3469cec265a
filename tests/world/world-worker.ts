/**
 * A worker of a world, as a process of its own: the real assembly of a crawl, with the times of the protocol scaled. It
 * crawls when it is told to, and may crawl again when that is over: starting a process costs as much as a small crawl.
 */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setInterval as every } from 'node:timers'

/** What a worker is told. */
export type WorldOrder =
  | { readonly do: 'crawl'; readonly crawl: WorldCrawl }
  /** Its clock shows so much more from now on; the monotonic one does not. */
  | { readonly do: 'jump'; readonly ms: number }

export interface WorldCrawl {
  readonly spider: string
  readonly startUrls: readonly string[]
  readonly settings: Readonly<Record<string, unknown>>
  /** It begins a crawl of its own, whatever was before; else it joins. */
  readonly begins: boolean
  /** Of the protocol's times. */
  readonly factor: number
}

/** What a worker says. Times are milliseconds since the epoch, by a clock that no order moves. */
export type WorldNews =
  | { readonly says: 'ready' }
  | { readonly says: 'ended'; readonly reason: string }
  | { readonly says: 'failed'; readonly why: string }
  /** The machine was busy: nothing of it ran. */
  | { readonly says: 'stood still'; readonly fromMs: number; readonly untilMs: number }

const tell = (news: WorldNews) => process.connected && process.send!(news)
let aheadMs = 0
const RealDate = Date
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args) =>
    args.length === 0 ? new target(target.now() + aheadMs) : Reflect.construct(target, args),
  get: (target, name) => (name === 'now' ? () => target.now() + aheadMs : Reflect.get(target, name, target)),
})

const { scaledTimes } = await import('@webloom/core')
const { assemble } = await import('../../packages/webloom/src/assembly/assemble.ts')
const { Spider } = await import('@webloom/spider')
type Response = import('@webloom/spider').Response
type Logger = import('@webloom/core').Logger

/** Of one that never ends: what its connections wait for, on standard error. */
const { Redis } = createRequire(join(import.meta.dirname, '../../packages/queue/package.json'))(
  'ioredis',
) as typeof import('ioredis')
const connections = new Set<object>()
const send = Redis.prototype.sendCommand
Redis.prototype.sendCommand = function (...sent: Parameters<typeof send>) {
  connections.add(this)
  return send.apply(this, sent)
}
type Line = { readonly length: number; get(n: number): { command: { name: string; args: unknown[] } } }
const waiting = (line: Line | undefined) =>
  Array.from({ length: line?.length ?? 0 }, (_, n) => {
    const { name, args } = line!.get(n).command
    return `${name} ${args.map(String).join(' ').replaceAll('\n', ' ').slice(0, 100)}`
  })
process.on('SIGUSR2', () => {
  for (const one of connections) {
    const { status, commandQueue, offlineQueue, prevCommandQueue, options } = one as Record<string, never> & {
      status: string
      options: { connectionName?: string; port: number }
    }
    process.stderr.write(
      `${JSON.stringify({ status, port: options.port, name: options.connectionName, sent: waiting(commandQueue), offline: waiting(offlineQueue), before: waiting(prevCommandQueue) })}\n`,
    )
  }
})

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** Lines of JSON on standard error. */
function loggerFrom(least: (typeof LEVELS)[number]): Logger {
  const write =
    (level: (typeof LEVELS)[number]) =>
    (...[first, second]: [object | string, string?]): void => {
      if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return
      const { err, ...fields } = (typeof first === 'string' ? {} : first) as { err?: unknown }
      const reason = err instanceof Error ? err.message : err
      const msg = typeof first === 'string' ? first : second
      const at = Math.round(performance.timeOrigin + performance.now())
      process.stderr.write(
        `${JSON.stringify({ at, level, msg, ...fields, ...(reason !== undefined && { reason }) })}\n`,
      )
    }
  const logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
  return { ...logger, child: () => ({ ...logger, child: () => loggerFrom(least) }) } as Logger
}

async function crawl({ spider, startUrls, settings, begins, factor }: WorldCrawl): Promise<string> {
  class Pages extends Spider {
    override name = spider
    override startUrls = [...startUrls]
    override async *parse(response: Response) {
      yield* response.followAll()
    }
  }
  const running = await assemble(Pages, {
    layers: { command: settings },
    folder: process.cwd(),
    createLogger: () => loggerFrom(process.env.WORLD_LOG === 'debug' ? 'debug' : 'info'),
    times: scaledTimes(factor),
    part: { begins, isWorker: true },
  })
  return (await running.run()).finishReason
}

/** How late a timer must be for it to count: a part of the shortest lock. */
const STILL_MS_MIN = 60
const LOOK_EVERY_MS = 20
let lookedMs = performance.now()
every(() => {
  const nowMs = performance.now()
  if (nowMs - lookedMs > STILL_MS_MIN)
    tell({
      says: 'stood still',
      fromMs: performance.timeOrigin + lookedMs,
      untilMs: performance.timeOrigin + nowMs,
    })
  lookedMs = nowMs
}, LOOK_EVERY_MS)

process.on('disconnect', () => process.exit())
process.on('message', (order: WorldOrder) => {
  if (order.do === 'jump') {
    aheadMs += order.ms
    return
  }
  crawl(order.crawl).then(
    (reason) => {
      aheadMs = 0
      tell({ says: 'ended', reason })
    },
    (error: unknown) => tell({ says: 'failed', why: (error as Error).stack ?? String(error) }),
  )
})
tell({ says: 'ready' })
