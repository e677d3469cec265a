/**
 * Replies that are lost on their way, on real Redis servers. In cluster-faults.soak.test.ts a worker is killed before and after each
 * of its commands, too; here worlds do that.
 */

import { startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SHORT_TIMES } from '../cluster/cluster-crawl.ts'
import { cutRepliesOf, FaultCrawl, type FaultServers } from './cluster-faults.ts'
import { CommandNames } from './command-names.ts'

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

test(
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
