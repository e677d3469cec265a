/** Lightpanda, where `lightpanda` is in PATH (`pip install lightpanda`). It gets a network of its own, as its sockets go past any proxy. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { runProcess } from '@webloom/testkit'
import { expect, test } from 'vitest'

const isPossible =
  process.getuid?.() === 0 &&
  spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up']).status === 0 &&
  spawnSync('lightpanda', ['version']).status === 0

test.skipIf(!isPossible)('it is refused for its sockets, and renders where it is trusted', async () => {
  const script = join(import.meta.dirname, '../testing/render-by-lightpanda.ts')
  const node = `'${process.execPath}' --conditions=webloom-source '${script}'`
  const { code, stdout, stderr } = await runProcess(
    'unshare',
    ['-n', 'sh', '-c', `ip link set lo up && exec ${node}`],
    { env: { ...process.env, LIGHTPANDA_DISABLE_TELEMETRY: 'true' }, timeoutMs: 240_000 },
  )
  expect(code, stderr).toBe(0)
  const { refused, crowded, texts, requests } = JSON.parse(stdout) as Record<string, string>
  expect(refused).toMatch(/opens WebSockets past the proxy.*BROWSER_CDP_TRUSTED=true/)
  expect(crowded).toMatch(/has one page at a time.*BROWSER_PAGES=1/)
  expect(texts).toEqual(['drawn', 'drawn', 'sent'])
  expect(Number(requests)).toBeGreaterThan(0)
})
