/** What a page says to the worker itself, by DevTools, is bounded; and hard-pages.test.ts with a page for each script. */

import { expect, test } from 'vitest'
import './hard-pages.test.ts'
import { Browsing, Site } from '../testing/browsing.ts'

test('a page that logs more than a string can hold costs its browser, and not its worker', {
  timeout: 600_000,
}, async () => {
  await using site = await Site.start()
  await using browsing = await Browsing.open({ settings: { DOWNLOAD_TIMEOUT: 300 } })
  // Six characters each in JSON.
  const url = site.html('/flood', '<script>console.error("\\u0001".repeat(1e8))</script>')
  await expect(browsing.visit(url)).rejects.toMatchObject({ kind: 'DownloadFailedError' })
  expect((await browsing.visit(site.html('/small', 'small'))).status).toBe(200)
})
