import {
  type ItemFeed,
  type ItemPipeline,
  MemoryStatsCollector,
  Signals,
  silentLogger,
  WebloomError,
} from '@webloom/core'
import { expect, test } from 'vitest'
import { ItemProcessor } from './item-processor.ts'

const processItem = (item: unknown) => item

function processor(pipelines: Record<string, ItemPipeline>, feeds: readonly ItemFeed[] = []) {
  const told: string[] = []
  const logger = {
    ...silentLogger,
    error: (first: object | string) => void told.push(String((first as { err: Error }).err.message)),
  }
  const items = new ItemProcessor({
    pipelines: Object.entries(pipelines).map(([name, component]) => ({ name, component })),
    feeds,
    concurrency: 1,
    dropLogLevel: 'WARNING',
    timeoutMs: 20,
    spider: { name: 's' },
    stats: new MemoryStatsCollector(),
    signals: new Signals(() => {}),
    logger,
  })
  return { items, told }
}

function feedThat(close: () => Promise<void>): ItemFeed {
  return { uri: 'out.json', open: async () => {}, write: async () => {}, close }
}

test('a pipeline that never closes costs no output: each has its own time', async () => {
  let isClosed = false
  const feed = feedThat(async () => {
    isClosed = true
  })
  const hangs = { processItem, closeSpider: () => new Promise<void>(() => {}) }
  const { items } = processor({ Hangs: hangs }, [feed])
  await expect(items.close('finished')).rejects.toThrow(
    'closing pipeline Hangs took longer than COMPONENT_TIMEOUT, 0.02 s, and is given up',
  )
  expect(isClosed).toBe(true)
})

test('the failure of an output is thrown, whatever failed before; the others are logged', async () => {
  const broken = {
    processItem,
    closeSpider: () => {
      throw new Error('no connection')
    },
  }
  const failing = feedThat(async () => {
    throw new WebloomError('WL_OUTPUT_FAILED', 'Writing out.json failed')
  })
  const { items, told } = processor({ Broken: broken }, [failing])
  await expect(items.close('finished')).rejects.toMatchObject({ code: 'WL_OUTPUT_FAILED' })
  expect(told).toEqual(['no connection'])
})

test('a pipeline that never opens is named', async () => {
  const { items } = processor({ Hangs: { processItem, openSpider: () => new Promise<void>(() => {}) } })
  await expect(items.open()).rejects.toThrow(/opening pipeline Hangs took longer than COMPONENT_TIMEOUT/)
})

test('a pipeline that cannot be opened is named, with its setting and what it threw', async () => {
  const openSpider = () => {
    throw new TypeError('no disk')
  }
  const { items } = processor({ Table: { processItem, openSpider } })
  await expect(items.open()).rejects.toMatchObject({
    code: 'WL_COMPONENT_LOAD',
    message:
      'the item pipeline Table (ITEM_PIPELINES) could not be opened: openSpider threw TypeError: no disk',
  })
})
