import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureChromium, tempDir } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { browserPids, browserSessions, pidsIn } from '../testing/browser-processes.ts'
import { Browsing, Site } from '../testing/browsing.ts'

test('no Chromium outlives a worker that is killed, however busy its pages are; the next one removes its profile', async () => {
  // Any browser that starts removes what lies beside its own profile: those of other tests look elsewhere.
  await using folder = await tempDir()
  vi.stubEnv('TMPDIR', folder.path)
  await using site = await Site.start()
  const url = site.html('/busy', '<script>while (true);</script>')
  const script = join(import.meta.dirname, '../testing/render-without-end.ts')
  const worker = spawn(process.execPath, ['--conditions=webloom-source', script, url], { stdio: 'inherit' })
  try {
    await expect.poll(() => site.asked('/busy'), { timeout: 60_000, interval: 20 }).toBe(2)
    const { pid } = worker
    const sessions = browserSessions(pid)
    // The browser, what it needs, and two pages.
    expect(pidsIn(sessions).length).toBeGreaterThan(4)
    worker.kill('SIGKILL')
    await expect.poll(() => pidsIn(sessions), { timeout: 10_000, interval: 200 }).toEqual([])
    expect(browserPids(pid)).toEqual([])
    const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`webloom-browser-${pid}-`))
    expect(left()).toHaveLength(1)
    await using browsing = await Browsing.open()
    await browsing.visit(site.html('/small', 'small'))
    expect(left()).toEqual([])
  } finally {
    worker.kill('SIGKILL')
    vi.unstubAllEnvs()
  }
})

test('a Chromium that is killed as it starts is started again, and costs no page', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'webloom-killed-'))
  const program = join(folder, 'chromium')
  const chromium = await ensureChromium()
  writeFileSync(
    program,
    `#!/bin/sh\n[ -e ${folder}/once ] || { touch ${folder}/once; kill -9 $$; }\nexec ${chromium} "$@"\n`,
    { mode: 0o755 },
  )
  try {
    await using site = await Site.start()
    await using browsing = await Browsing.open({ settings: { BROWSER_EXECUTABLE: program } })
    expect((await browsing.visit(site.html('/small', 'small'))).status).toBe(200)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
