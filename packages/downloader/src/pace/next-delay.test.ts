import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { nextDelay } from './next-delay.ts'

interface Run {
  readonly settings: { readonly AUTOTHROTTLE_TARGET_CONCURRENCY?: number }
  readonly mindelay: number
  readonly maxdelay: number
  readonly start_delay: number
  readonly steps: readonly {
    readonly latency: number
    readonly status: number
    readonly delay_before: number
    readonly delay_after: number
  }[]
}

const { cases } = JSON.parse(
  readFileSync(new URL('../../testdata/autothrottle.json', import.meta.url), 'utf8'),
) as { cases: Run[] }

test.each(cases)('the delay goes as Scrapy’s AutoThrottle has it: $settings', (run) => {
  const rules = {
    minDelay: run.mindelay,
    maxDelay: run.maxdelay,
    targetConcurrency: run.settings.AUTOTHROTTLE_TARGET_CONCURRENCY ?? 1,
  }
  let delay = run.start_delay
  for (const { latency, status, delay_before, delay_after } of run.steps) {
    expect(delay).toBe(delay_before)
    delay = nextDelay(delay, { latency, status }, rules)
    expect(delay).toBe(delay_after)
  }
})

const rules = { minDelay: 0.5, maxDelay: 3, targetConcurrency: 2 }

test('several requests that should be in flight share the latency', () => {
  expect(nextDelay(1, { latency: 2, status: 200 }, rules)).toBe(1)
  expect(nextDelay(2, { latency: 2, status: 200 }, rules)).toBe(1.5)
})

test('the delay stays within its bounds', () => {
  expect(nextDelay(0.5, { latency: 0.01, status: 200 }, rules)).toBe(0.5)
  expect(nextDelay(1, { latency: 60, status: 200 }, rules)).toBe(3)
})

test('an error makes a host slower, and never faster', () => {
  expect(nextDelay(1, { latency: 0.1, status: 404 }, rules)).toBe(1)
  expect(nextDelay(1, { latency: 5, status: 404 }, rules)).toBe(2.5)
})
