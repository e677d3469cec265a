import { crawlRecordContract } from '@webloom/core/contract'
import { describe, test } from 'vitest'
import { MemoryCrawlRecord } from './memory-crawl-record.ts'

const reason = 'the crawl ends with its process, and start() is run once in it: there is nothing to remember'

crawlRecordContract(
  { describe, test },
  {
    name: 'MemoryCrawlRecord',
    deviations: [
      'a step over elements that is told twice, or late, changes nothing',
      'a step or an end behind elements that are missing is refused, and start() goes on from there',
      'a crawl that was stopped goes on, and its start() where it was',
      'a crawl with nothing left to do is finished; who comes later is told when, and begins none',
      'an output is begun once, whatever runs the crawl has',
    ].map((test) => ({ test, reason })),
    create: async () => ({ record: () => new MemoryCrawlRecord(), dispose: async () => {} }),
  },
)
