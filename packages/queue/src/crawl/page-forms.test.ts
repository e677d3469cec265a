import { pageFormsContract } from '@webloom/core/contract'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { MemoryPageForms } from './memory-page-forms.ts'
import { RedisPageForms } from './redis-page-forms.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

pageFormsContract(
  { describe, test },
  {
    name: 'MemoryPageForms',
    create: async (shapesMax) => {
      const forms = new MemoryPageForms(shapesMax)
      return { one: forms, other: forms, dispose: async () => {} }
    },
  },
)
pageFormsContract(
  { describe, test },
  {
    name: 'RedisPageForms',
    create: async (shapesMax) => {
      const keys = bench.nextKeys()
      const [one, other] = [1, 2].map(() => new RedisPageForms({ redis: bench.connect(), keys, shapesMax }))
      return { one: one!, other: other!, dispose: async () => {} }
    },
  },
)
