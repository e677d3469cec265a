import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { ChromiumMissing, ensureChromium, startBrowser, startFakeWeb, tempDir } from '../index.ts'
import { findChromium, unpackPackage } from './chromium-install.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

test('a browser opens a page of the fake web, with a Chromium that is here or was got for it', async () => {
  await using web = await startFakeWeb({ pagesPerHost: 1 })
  web.route(null, '/made', (_, res) =>
    res
      .setHeader('content-type', 'text/html')
      .end('<p>as sent</p><script>document.querySelector("p").textContent = "as made"</script>'),
  )
  await using browser = await startBrowser()
  const page = await browser.newPage()
  await page.goto(`${web.origins[0]}/made`)
  expect(await page.locator('p').textContent()).toBe('as made')
})

test('of a cache that was cleaned in part the launcher that is left is not a Chromium', async () => {
  await using cache = await tempDir()
  vi.stubEnv('PATH', cache.path)
  vi.stubEnv('XDG_CACHE_HOME', cache.path)
  const put = (path: string) => {
    mkdirSync(dirname(cache.join('webloom-testkit/chromium', path)), { recursive: true })
    writeFileSync(cache.join('webloom-testkit/chromium', path), '', { mode: 0o755 })
  }
  put('chromium-headless-shell')
  expect(findChromium()).toBeUndefined()
  put('root/usr/lib/chromium/chromium-headless-shell')
  expect(findChromium()).toBe(cache.join('webloom-testkit/chromium/chromium-headless-shell'))
})

test('where nothing helps, the message says what was tried and what to do', async () => {
  await using empty = await tempDir()
  vi.stubEnv('PATH', empty.path)
  vi.stubEnv('XDG_CACHE_HOME', empty.path)
  const missing = await ensureChromium().catch((error) => error)
  expect(missing).toBeInstanceOf(ChromiumMissing)
  expect(missing.message).toBe(
    [
      'Chromium is missing: none of chromium-headless-shell, chromium, google-chrome in PATH.',
      '  apt-get: not in PATH',
      'To get it: sudo apt-get install chromium-headless-shell (Debian), or put any Chrome or Chromium into PATH as chromium, and run the tests again.',
    ].join('\n'),
  )
})

test('without a network the message says that no package lists came, and what to type', async () => {
  await using folder = await tempDir()
  // What apt-get says and does where no host can be reached.
  const lines = [
    "W: Failed to fetch http://deb.example/dists/stable/InRelease  Temporary failure resolving 'deb.example'",
    'W: Some index files failed to download. They have been ignored, or old ones used instead.',
  ]
  const script = `#!/bin/sh
case "$*" in
  *update*) echo "${lines.join('\n')}" >&2 ;;
  *) echo 'E: Unable to locate package chromium-headless-shell' >&2; exit 100 ;;
esac
`
  writeFileSync(folder.join('apt-get'), script, { mode: 0o755 })
  vi.stubEnv('PATH', `${folder.path}:${process.env.PATH}`)
  expect(await unpackPackage(folder.join('unpacked'))).toEqual([
    "apt-get: the package lists could not be fetched. Is there a network? http://deb.example/dists/stable/InRelease: Temporary failure resolving 'deb.example'. When there is one again:  sudo apt-get update",
  ])
})
