/** Where the ways of nothing-inside.test.ts lead without our proxy; and with it, where a metadata address answers. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureChromium, runProcess } from '@webloom/testkit'
import { chromium } from 'playwright-core'
import { expect, test } from 'vitest'
import { Site } from '../testing/browsing.ts'
import { Inside, serveWays, WAYS } from '../testing/ways-inside.ts'

// In a network namespace the metadata address can be one that answers. Needs root, `unshare` and `ip`.
const isPossible =
  process.getuid?.() === 0 && spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up']).status === 0

test.skipIf(!isPossible)('no way that a page has leads to a metadata address that answers', async () => {
  const script = join(import.meta.dirname, '../testing/render-in-namespace.ts')
  const node = `'${process.execPath}' --conditions=webloom-source '${script}'`
  const line = `ip link set lo up && ip addr add 169.254.169.254/32 dev lo && exec ${node}`
  const { code, stdout, stderr } = await runProcess('unshare', ['-n', 'sh', '-c', line], {
    timeoutMs: 120_000,
  })
  expect(code, stderr).toBe(0)
  const { answers, hits, contacts } = JSON.parse(stdout) as {
    answers: boolean
    hits: string[]
    contacts: number
  }
  expect(answers).toBe(true)
  expect(new Set(hits)).toEqual(new Set(WAYS.map((way) => `${way} public`)))
  expect(contacts).toBe(0)
})

test('without our proxy the same page reaches what is inside by each of these ways', async () => {
  await using inside = await Inside.start(['127.0.0.1', '::1'])
  await using site = await Site.start()
  const executablePath = await ensureChromium()
  await using browser = await chromium.launch({ executablePath, chromiumSandbox: false })
  const { port } = inside
  const url = serveWays(site, { loopback: `127.0.0.1:${port}`, loopback6: `[::1]:${port}` })
  const page = await browser.newPage()
  await page.goto(url, { waitUntil: 'commit' })
  for (const target of ['loopback', 'loopback6'])
    await expect
      .poll(
        () =>
          new Set(
            [...inside.hits].filter((hit) => hit.endsWith(` ${target}`)).map((hit) => hit.split(' ')[0]),
          ),
        { timeout: 20_000 },
      )
      .toEqual(new Set(WAYS))
})
