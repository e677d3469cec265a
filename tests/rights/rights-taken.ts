/** A crawl whose user loses a right in its middle, and gets it back for the next run. */

import { type RedisServer, startFakeWeb } from '@webloom/testkit'
import { crawl, type Response, Spider } from 'webloom'
import { aclLine } from '../../packages/webloom/src/redis/redis-rights.ts'
import { keepingLogger } from '../seeds/seeded-pages.ts'

const TAKEN_AFTER = 8
/** The second run waits until the locks of the first have run out. */
const RUN_MS_MAX = 45_000

export interface RightTaken {
  readonly command: string
  readonly mode: 'turns' | 'job'
  readonly seed: number
}

export interface AfterTaken {
  /** Pages that neither run has fetched. */
  readonly lost: readonly string[]
  readonly finishReasons: readonly string[]
  /** What the run that lost the right has logged. */
  readonly told: string
}

/** Crawls on that server until pages were fetched, takes the right, waits for the end, gives it back, and crawls to the end. */
export async function crawlWithRightTaken(
  server: RedisServer,
  { command, mode, seed }: RightTaken,
): Promise<AfterTaken> {
  const id = `${mode}-${command.replace('|', '-')}`
  const line = aclLine(['queue', 'dupefilter'], { spider: 'pages' })
  await server.command(...words(line.replace('<user>', id).replace('<password>', 'pw')))
  await using web = await startFakeWeb({ seed, pagesPerHost: 20, latencyMs: 5 })
  class Pages extends Spider {
    override name = 'pages'
    override startUrls = web.seeds
    override *parse(response: Response): Generator<unknown> {
      yield* response.followAll()
    }
  }
  const told: string[] = []
  const run = (lines: string[]) =>
    crawl(Pages, {
      settings: {
        REDIS_URL: server.url.replace('://', `://${id}:pw@`),
        CRAWL_ID: id,
        QUEUE_MODE: mode,
        CONCURRENT_REQUESTS: 4,
        PRIVATE_ADDRESSES_ALLOWED: ['*'],
      },
      signal: AbortSignal.timeout(RUN_MS_MAX),
      logger: keepingLogger(lines),
    })
  const first = run(told)
  await web.waitForHits(TAKEN_AFTER)
  await server.command('ACL', 'SETUSER', id, `-${command}`)
  const broken = await first
  await server.command('ACL', 'SETUSER', id, `+${command}`)
  const after = await run([])
  const fetched = new Set(web.hits.map(({ url }) => url))
  return {
    lost: [...web.linked()].filter((url) => !fetched.has(url)),
    finishReasons: [broken.finishReason, after.finishReason],
    told: told.join('\n'),
  }
}

function words(line: string): [string, ...string[]] {
  return line.split(' ') as [string, ...string[]]
}
