/** A crawl in which one reply of each kind of command never comes, while its connection stays open. */

import { scaledTimes, silentLogger } from '@webloom/core'
import { type Response, Spider } from '@webloom/spider'
import { startFakeWeb, startRedis, startTcpProxy } from '@webloom/testkit'
import { assemble } from '../../packages/webloom/src/assembly/assemble.ts'
import { CommandNames } from '../worker-faults/command-names.ts'

const TIMES = scaledTimes(0.1)
const SOCKET_TIMEOUT_S = 0.15
const NEVER = { holdReplyMs: 3_600_000 }
/** With these ioredis sets up a connection; they are sent again with the next one. */
const SETTING_UP = /^(?:CLIENT|HELLO|AUTH|SELECT)$/

export interface SilentCrawl {
  readonly finishReason: string
  readonly fetched: readonly string[]
  readonly pages: ReadonlySet<string>
  /** The kinds of commands that were not answered once. */
  readonly unanswered: ReadonlySet<string>
}

/**
 * Runs a worker, with queue and filter on a Redis each.
 *
 * @param nth which call of each kind of command is not answered
 * @param which kinds are meant; all: that takes twenty seconds
 */
export async function silentCrawl(mode: 'turns' | 'job', nth: number, which = /^/): Promise<SilentCrawl> {
  const names = new CommandNames()
  const counts = new Map<string, number>()
  const unanswered = new Set<string>()
  const kindOf = (command: readonly string[]) =>
    [names.nameOf(command), ...(command[0] === 'INFO' ? [command[1]] : [])].join(' ')
  await using queue = await startRedis()
  await using filter = await startRedis()
  await using web = await startFakeWeb({ hosts: 3, pagesPerHost: 40, linksPerPage: 6, latencyMs: 10 })
  await using queueProxy = await startTcpProxy({ target: queue.url })
  await using filterProxy = await startTcpProxy({ target: filter.url })
  for (const [role, proxy] of [
    ['queue', queueProxy],
    ['filter', filterProxy],
  ] as const)
    proxy.judgeBy((command) => {
      const kind = `${role}: ${kindOf(command)}`
      const count = (counts.get(kind) ?? 0) + 1
      counts.set(kind, count)
      if (count !== nth || SETTING_UP.test(command[0]!) || !which.test(kind)) return 'forward'
      unanswered.add(kind)
      return NEVER
    })
  class Pages extends Spider {
    override name = 'pages'
    override startUrls = [...web.seeds]
    override async *parse(response: Response) {
      yield* response.followAll()
    }
  }
  const crawl = await assemble(Pages, {
    layers: {
      command: {
        QUEUE_REDIS_URL: queueProxy.url,
        DUPEFILTER_REDIS_URL: [filterProxy.url],
        REDIS_PARAMS: { socket_timeout: SOCKET_TIMEOUT_S },
        QUEUE_MODE: mode,
        ROBOTSTXT_OBEY: false,
        PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8', '::1'],
      },
    },
    folder: process.cwd(),
    createLogger: () => silentLogger,
    times: TIMES,
    part: { begins: false, isWorker: true },
  })
  const { finishReason } = await crawl.run()
  return { finishReason, fetched: web.hits.map(({ url }) => url), pages: web.linked(), unanswered }
}
