import { expect, test } from 'vitest'
import { withMetricsPort } from './metrics-server.ts'

test('of several processes each has a port of its own, after that of METRICS_PORT', () => {
  expect(withMetricsPort(['worker'], 9464, 2)).toEqual(['worker', '-s', 'METRICS_PORT=9466'])
  expect(withMetricsPort(['worker'], 0, 2)).toEqual(['worker'])
})
