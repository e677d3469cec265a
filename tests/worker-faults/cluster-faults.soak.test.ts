/** A worker killed before and after each of its commands, and each command's reply lost, one by one. */

import { startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { SHORT_TIMES } from '../cluster/cluster-crawl.ts'
import { type CommandAt, cutRepliesOf, FaultCrawl, killedAt } from './cluster-faults.ts'
import { argumentsOf, CommandNames } from './command-names.ts'

/** Most of a case is waiting for the lost worker's locks. */
const AT_ONCE = 4
/** Of what comes this often, one in the middle is tried as well. */
const OFTEN = 12
const MIDDLE = 5

test.each(['turns', 'job'] as const)(
  'QUEUE_MODE=%s: nothing is lost at any command of a worker’s life',
  async (mode) => {
    await using queue = await startRedis()
    await using filter = await startRedis()
    const shared = { queue, filter, mode, names: new CommandNames() }
    const life = await lifeOf(shared)
    const commands = [...life].flatMap(([name, count]): CommandAt[] =>
      count < OFTEN ? [{ name }] : [{ name }, { name, nth: MIDDLE }],
    )
    const cases = commands.flatMap((command) =>
      (['before', 'after', 'reply'] as const).map((fault) => ({ command, fault })),
    )
    const failures: string[] = []
    const next = cases.entries()
    const work = async () => {
      for (const [n, { command, fault }] of next) {
        const options = { ...shared, name: `case-${n}` }
        try {
          if (fault === 'reply') await cutRepliesOf([command], options)
          else await killedAt(command, fault, options)
        } catch (error) {
          failures.push(`${fault} ${command.name} ${command.nth ?? 1}: ${(error as Error).message}`)
        }
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    console.log(`${mode}: ${cases.length} faults`)
    expect(failures).toEqual([])
  },
)

test('a worker is killed with -9 after it has queued a seed and not acknowledged it, and another comes a day later', async () => {
  await using queue = await startRedis()
  await using filter = await startRedis()
  const crawl = { queue, filter, mode: 'turns', names: new CommandNames(), factor: SHORT_TIMES } as const
  await killedAt({ name: 'seeds/settle' }, 'before', { ...crawl, name: 'a-day', aDayLater: true })
})

test('a worker is killed with -9 after it has committed a page and not settled its links, and another is started: every page is crawled', async () => {
  await using queue = await startRedis()
  await using filter = await startRedis()
  const crawl = { queue, filter, mode: 'turns', names: new CommandNames(), factor: SHORT_TIMES } as const
  const growing = (words: readonly string[]) => argumentsOf(words)[1] === 'grows'
  await killedAt({ name: 'buckets/exchange', nth: 2, which: growing }, 'after', { ...crawl, name: 'settles' })
})

async function lifeOf(
  shared: Omit<Parameters<typeof FaultCrawl.of>[0], 'name'>,
): Promise<Map<string, number>> {
  await using crawl = await FaultCrawl.of({ ...shared, name: 'life' })
  return await crawl.commandCounts()
}
