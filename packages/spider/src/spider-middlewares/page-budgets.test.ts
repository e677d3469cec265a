import { MemoryStatsCollector, Request, Response, silentLogger } from '@webloom/core'
import { expect, test } from 'vitest'
import { PageBudgetsMiddleware } from './page-budgets.ts'

test('beyond its bytes the host that was met longest ago is counted anew, and one that is linked to is not', () => {
  const budgets = new PageBudgetsMiddleware({
    pagesPerHost: 2,
    pagesPerPath: 0,
    countedBytesMax: 1000,
    stats: new MemoryStatsCollector(),
    logger: silentLogger,
  })
  const pageOf = (host: string) => {
    const request = new Request(`http://${host}.test/`)
    return new Response(request.url, { request })
  }
  const isFull = (host: string) =>
    budgets.processSpiderRequest(new Request(`http://${host}.test/next`), pageOf('from')) === null
  for (const host of ['trap', 'site', 'trap', 'site']) budgets.processSpiderInput(pageOf(host))
  for (let n = 0; n < 20; n++) {
    budgets.processSpiderInput(pageOf(`other${n}`))
    expect(isFull('trap')).toBe(true)
  }
  expect(isFull('site')).toBe(false)
})
