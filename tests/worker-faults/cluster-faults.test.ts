/**
 * A worker killed exactly between two writes, and replies lost on their way, on real Redis servers. Every command of a worker
 * in cluster-faults.soak.test.ts.
 */

import { startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SHORT_TIMES } from '../cluster/cluster-crawl.ts'
import { type CommandAt, cutRepliesOf, FaultCrawl, type FaultServers, killedAt } from './cluster-faults.ts'
import { argumentsOf, CommandNames } from './command-names.ts'

const names = new CommandNames()
let servers: FaultServers
const shared = () => ({ ...servers, mode: 'turns' as const, names, factor: SHORT_TIMES })
let life: Map<string, number>
beforeAll(async () => {
  const [queue, filter] = await Promise.all([startRedis(), startRedis()])
  servers = { queue: queue!, filter: filter! }
  await using crawl = await FaultCrawl.of({ ...shared(), name: 'life' })
  life = await crawl.commandCounts()
}, 90_000)
afterAll(() => Promise.all([servers.queue.stop(), servers.filter.stop()]))

const LONG = { timeout: 180_000 }
const growing = (words: readonly string[]) => argumentsOf(words)[1] === 'grows'

test.concurrent(
  'each command of a worker’s life loses its first reply: nothing is lost, nothing is done twice',
  LONG,
  async () => {
    expect([...life.keys()]).toContain('buckets/exchange')
    await cutRepliesOf(
      [...life.keys()].map((name) => ({ name })),
      { ...shared(), name: 'cut' },
    )
  },
)

describe.concurrent('a worker is killed with -9, and another is started: every page is crawled', () => {
  const moments: [what: string, when: 'before' | 'after', command: CommandAt][] = [
    ['it has queued a seed, and not acknowledged it', 'before', { name: 'seeds/settle' }],
    [
      'it has committed a page, and not settled its links',
      'after',
      { name: 'buckets/exchange', nth: 2, which: growing },
    ],
  ]
  test.each(moments)('%s', LONG, async (what, when, command) => {
    const name = what.replaceAll(/\W+/g, '-')
    await killedAt(command, when, { ...shared(), name })
  })
})
