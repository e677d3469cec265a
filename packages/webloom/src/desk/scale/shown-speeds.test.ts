import { describe, expect, test } from 'vitest'
import { ShownSpeeds } from './shown-speeds.ts'

const sampled = (...samples: readonly (readonly [number, number, number])[]) =>
  samples.map(([atS, workers, pagesPerMinute]) => ({ atMs: atS * 1000, workers, pagesPerMinute }))

describe('what a worker has shown', () => {
  test('is what two samples that follow each other say', () => {
    expect(new ShownSpeeds(sampled([0, 1, 600], [10, 1, 1200], [20, 2, 1800]), 0).perWorker).toBe(10)
  })

  test('is nothing where one sample stands alone, or the next comes after a gap', () => {
    expect(new ShownSpeeds([], 0).perWorker).toBe(0)
    expect(new ShownSpeeds(sampled([0, 1, 1200]), 0).perWorker).toBe(0)
    expect(new ShownSpeeds(sampled([0, 1, 1200], [60, 1, 1200]), 0).perWorker).toBe(0)
    expect(new ShownSpeeds(sampled([0, 0, 0], [10, 0, 0]), 0).perWorker).toBe(0)
  })

  test('is not the first second of a worker, whose answers come all at once', () => {
    expect(new ShownSpeeds(sampled([0, 1, 60_000], [10, 1, 300], [20, 1, 310]), 0).perWorker).toBe(300 / 60)
  })

  test('is forgotten with its time', () => {
    const samples = sampled([0, 1, 1200], [10, 1, 1200], [20, 1, 300], [30, 1, 300])
    expect(new ShownSpeeds(samples, 5000).perWorker).toBe(5)
  })
})

test('more workers have helped when together they were faster by a tenth than fewer', () => {
  const shown = new ShownSpeeds(sampled([0, 2, 1200], [10, 2, 1200], [20, 4, 1300], [30, 4, 1300]), 0)
  expect(shown.haveMoreHelped(2)).toBe(true)
  expect(shown.haveMoreHelped(4)).toBe(false)
  expect(
    new ShownSpeeds(sampled([0, 2, 1200], [10, 2, 1200], [20, 4, 1500], [30, 4, 1500]), 0).haveMoreHelped(4),
  ).toBe(true)
})
