import { DUPEFILTERS } from '@webloom/dupefilter'
import { expect, test } from 'vitest'
import * as ports from './ports.ts'

test('each built-in dupefilter can be imported from webloom/ports, and so be extended', () => {
  const classes = Object.values(DUPEFILTERS).flatMap(({ onRedis, inProcess }) =>
    [onRedis?.Class, onRedis?.byHost, inProcess?.Class, inProcess?.byHost].filter((one) => one !== undefined),
  )
  const exported: unknown[] = Object.values(ports)
  expect(classes.length).toBeGreaterThan(8)
  expect(classes.filter((Class) => !exported.includes(Class)).map(({ name }) => name)).toEqual([])
})
