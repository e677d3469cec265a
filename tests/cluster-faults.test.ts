/** A worker killed exactly between two writes, and replies lost on their way, on real Redis servers. */

import { startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandAt, cutRepliesOf, FaultCrawl, type FaultServers, killedAt } from './cluster-faults.ts'
import { argumentsOf, CommandNames } from './command-names.ts'

const names = new CommandNames()
let servers: FaultServers
let life: Map<string, number>
beforeAll(async () => {
  const [queue, filter] = await Promise.all([startRedis(), startRedis()])
  servers = { queue: queue!, filter: filter! }
  await using crawl = await FaultCrawl.of({ ...servers, name: 'life', mode: 'turns', names })
  life = await crawl.commandCounts()
}, 90_000)
afterAll(() => Promise.all([servers.queue.stop(), servers.filter.stop()]))

const LONG = { timeout: 180_000 }
const growing = (words: readonly string[]) => argumentsOf(words)[1] === 'grows'

test.concurrent(
  'each command of a worker’s life loses its first reply: nothing is lost, nothing is done twice',
  LONG,
  async () => {
    expect([...life.keys()]).toContain('turn-exchange')
    const commands = [...life.keys()].map((name) => ({ name }))
    await cutRepliesOf(commands, { ...servers, name: 'cut', mode: 'turns', names })
  },
)

describe.concurrent('a worker is killed with -9, and another is started: every page is crawled', () => {
  const moments: [what: string, when: 'before' | 'after', command: CommandAt][] = [
    ['it has asked about an element of start(), and not queued it', 'before', { name: 'turn-push' }],
    ['it has queued an element of start(), and not settled it', 'after', { name: 'turn-push' }],
    ['start() has ended, and nobody knows', 'before', { name: 'record-start-moved' }],
    ['it has taken a seed, and asked about nothing', 'after', { name: 'seeds-take' }],
    ['it has queued a seed, and not acknowledged it', 'before', { name: 'seeds-settle' }],
    ['it has begun a turn, and taken nothing', 'after', { name: 'turn-begin' }],
    ['it has asked about a page’s links, and not committed it', 'after', { name: 'ask', nth: 8 }],
    [
      'it has committed a page, and not settled its links',
      'after',
      { name: 'turn-exchange', nth: 5, which: growing },
    ],
    ['it has ended the crawl, and not left it', 'before', { name: 'record-leave' }],
  ]
  test.each(moments)('%s', LONG, async (what, when, command) => {
    const name = what.replaceAll(/\W+/g, '-')
    await killedAt(command, when, { ...servers, name, mode: 'turns', names })
  })
})
