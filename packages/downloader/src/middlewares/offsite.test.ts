import { MemoryStatsCollector, Request, silentLogger } from '@webloom/core'
import { expect, test } from 'vitest'
import { OffsiteMiddleware } from './offsite.ts'

test('hosts are remembered within 16 MiB, however long their names; further ones are only filtered', () => {
  const stats = new MemoryStatsCollector()
  const spider = { name: 'pages', allowedDomains: ['home.test'] }
  const offsite = new OffsiteMiddleware({ spider, stats, logger: silentLogger })
  const filler = 'x'.repeat(60)
  const name = (n: number) => `${n}.${`${filler}.`.repeat(30)}test`
  const refused = (n: number) => {
    try {
      offsite.processRequest(new Request(`http://${name(n)}/`))
    } catch (error) {
      return String(error).includes('outside allowedDomains')
    }
    return false
  }
  for (let n = 0; n < 9000; n++) if (!refused(n)) expect.fail(name(n))
  expect(stats.get('offsite/filtered')).toBe(9000)
  const bytes = Number(stats.get('offsite/domains')) * name(1000).length
  expect(bytes).toBeGreaterThan(14_000_000)
  expect(bytes).toBeLessThan(16_777_216)
})
