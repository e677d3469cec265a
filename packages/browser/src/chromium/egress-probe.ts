import { type OpenEgress, Request } from '@webloom/core'
import type { Browser } from 'playwright-core'
import type { BrowserSettings } from '../browser-settings.ts'
import { unavailable } from './find-chromium.ts'

// Nobody need answer there: whether it was asked for is all that is to be seen. At the usual port, as browsers refuse some others.
const INSIDE = 'http://127.0.0.1/webloom-probe'
const OUTSIDE = 'http://webloom-probe.invalid/'
const PROBE_MS_MAX = 5000

/**
 * Looks whether a browser that runs elsewhere asks our proxy, for loopback, too. Rejects with `CloseSpider` when it does not: its
 * pages could then reach whatever it can.
 */
export async function refuseOpenBrowser(
  browser: Browser,
  openEgress: OpenEgress,
  { egressHost }: Pick<BrowserSettings, 'egressHost'>,
): Promise<void> {
  const egress = await openEgress(new Request(OUTSIDE), {
    bytesMax: 0,
    onTooMuch: () => {},
    blockedHosts: ['127.0.0.1', 'webloom-probe.invalid'],
    listenAt: egressHost,
  })
  const { server } = egress
  try {
    const context = await browser.newContext({
      proxy: { server, bypass: '<-loopback>', ...egress.credentials },
    })
    const page = await context.newPage()
    for (const url of [OUTSIDE, INSIDE]) await page.goto(url, { timeout: PROBE_MS_MAX }).catch(() => {})
    await context.close()
  } catch {
    // A browser without contexts of their own asks nothing by our proxy, either.
  }
  const asked = [...egress.hosts.keys()].map((place) => place.slice(0, place.lastIndexOf(':')))
  await egress.close()
  if (asked.includes('127.0.0.1') && asked.includes('webloom-probe.invalid')) return
  await browser.close().catch(() => {})
  throw unavailable(
    `the browser of BROWSER_CDP_URL does not ask the proxy of this worker (${server}), so nothing would keep its pages out of its network. Where it runs on another machine, name an address of this one that it can reach:  -s BROWSER_EGRESS_HOST=10.0.0.5  Where its network has nothing to hide:  -s BROWSER_CDP_TRUSTED=true`,
  )
}
