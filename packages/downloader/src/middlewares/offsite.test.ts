import { MemoryStatsCollector, Request, silentLogger } from '@webloom/core'
import { expect, test } from 'vitest'
import { OffsiteMiddleware } from './offsite.ts'

test('hosts are remembered within 16 MiB, however long their names; further ones are only filtered', () => {
  const stats = new MemoryStatsCollector()
  const spider = { name: 'pages', allowedDomains: ['home.test'] }
  const offsite = new OffsiteMiddleware({ spider, stats, logger: silentLogger })
  const filler = 'x'.repeat(60)
  const name = (n: number) => `${n}.${`${filler}.`.repeat(30)}test`
  for (let n = 0; n < 9000; n++)
    expect(() => offsite.processRequest(new Request(`http://${name(n)}/`))).toThrow('outside allowedDomains')
  expect(stats.get('offsite/filtered')).toBe(9000)
  const bytes = Number(stats.get('offsite/domains')) * name(1000).length
  expect(bytes).toBeGreaterThan(14_000_000)
  expect(bytes).toBeLessThan(16_777_216)
})
