import { startRedis } from '@webloom/testkit'
import { test, expect } from 'vitest'
import { writeFileSync } from 'node:fs'
import { argumentsOf, CommandNames, FaultCrawl, killedAt } from './cluster-faults.ts'
const growing = (words: readonly string[]) => argumentsOf(words)[1] === 'grows'
const what = process.env.WHAT!
test('debug', { timeout: 300_000 }, async () => {
  const names = new CommandNames()
  await using queue = await startRedis()
  await using filter = await startRedis()
  const servers = { queue, filter }
  {
    await using crawl = await FaultCrawl.of({ ...servers, crawlId: 'life', mode: 'turns', names })
    console.log([...(await crawl.commandCounts()).keys()].sort().join(', '))
  }
  const points: any = {
    settle: ['before', { name: 'seeds-settle' }],
    exchange: ['after', { name: 'turn-exchange', nth: 5, which: growing }],
  }
  const [when, command] = points[what]
  for (let n = 0; n < Number(process.env.TIMES ?? 1); n++) {
  try {
    console.log(n, await killedAt(command, when, { ...servers, crawlId: 'd' + n, mode: 'turns', names, settings: { LOG_LEVEL: 'DEBUG' } }))
  } catch (e) {
    writeFileSync('/tmp/h/chaos-debug-' + what + n + '.txt', String((e as Error).message) + '\n' + (e as Error).stack)
    console.log(n, String((e as Error).message).slice(0, 300))
  }
  }
})
