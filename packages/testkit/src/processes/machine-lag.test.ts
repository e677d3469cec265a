import { once } from 'node:events'
import { expect, test } from 'vitest'
import { MachineLag } from '../index.ts'

const turn = () => once(AbortSignal.timeout(50), 'abort')

test('the time in which nothing else could run is what its timers are late', async () => {
  using lag = new MachineLag()
  await turn()
  const fromMs = performance.now()
  while (performance.now() < fromMs + 300);
  await turn()
  // Which of two timers that are both late comes first is not known.
  await turn()
  const toMs = performance.now()
  expect(lag.between(fromMs, toMs)).toBeGreaterThan(250)
  expect(lag.between(fromMs, toMs)).toBeLessThanOrEqual(toMs - fromMs)
  expect(lag.ms).toBeGreaterThanOrEqual(lag.between(fromMs, toMs))
})
