/** `webloom host` while workers crawl, judged by the server's own log. Its other words are in the soak. */

import { expect, test } from 'vitest'
import { OBEYED_MS_MAX, OrderedHost } from './ordered-host.ts'

test('a host is paused and goes on: all workers obey within two seconds', async () => {
  await using host = await OrderedHost.start()

  const told = await host.order('--pause', '1h')
  expect(told.stdout, told.stderr).toMatch(/ordered: paused for (1 h|59 min)/)
  const pausedAtMs = performance.now()
  await host.othersArrive(30, pausedAtMs + OBEYED_MS_MAX)
  expect(await host.hits(pausedAtMs + OBEYED_MS_MAX)).toEqual([])

  await host.order('--resume')
  const resumedAtMs = performance.now()
  await host.arrive(10, resumedAtMs)
  expect((await host.hits(resumedAtMs))[0]!.atMs - resumedAtMs).toBeLessThan(OBEYED_MS_MAX)
})
