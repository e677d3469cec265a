import { pageFormsContract } from '@webloom/core/contract'
import { tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { clockOf, newJob } from '../../testing/new-job.ts'
import { JobDir } from '../jobdir/job-dir.ts'
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
    name: 'The page forms of a JOBDIR',
    create: async (pageShapesMax) => {
      const { job, dispose } = await newJob({ pageShapesMax })
      await job.record.open()
      return { one: job.pageForms, other: job.pageForms, dispose }
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

test('a crawl that is resumed in its JOBDIR knows what was learned, and forgets what was learned longest ago', async () => {
  await using dir = await tempDir()
  const job = () => new JobDir({ folder: dir.path, spiderName: 's', clock: clockOf(), pageShapesMax: 2 })
  const first = job()
  await first.record.open()
  for (const shape of ['a.example/#', 'b.example/#', 'a.example/#', 'c.example/#'])
    first.pageForms.learn(shape, 'rendered')
  await first.record.close()
  const second = job()
  await second.record.open()
  const known = ['a.example/#', 'b.example/#', 'c.example/#'].map((shape) => second.pageForms.of(shape))
  expect(known).toEqual([{ form: 'rendered', agreeing: 2 }, undefined, { form: 'rendered', agreeing: 1 }])
  await second.record.close()
})
