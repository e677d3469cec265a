import { type Egress, NoAnswer, type OpenEgress, Request, waitAtMost, within } from '@webloom/core'
import type { Browser } from 'playwright-core'
import type { BrowserSettings } from '../browser-settings.ts'
import { unavailable } from './find-chromium.ts'

// Nobody need answer there: whether it was asked for is all that is to be seen. At the usual port, as browsers refuse some others.
const INSIDE = 'http://127.0.0.1/webloom-probe'
const OUTSIDE = 'http://webloom-probe.invalid/'
const PROBE_MS_MAX = 5000
// Both pages, and half a minute for a machine that is busy.
const ANSWER_MS_MAX = 2 * PROBE_MS_MAX + 30_000

/**
 * Looks whether a browser that runs elsewhere asks our proxy, for loopback, too. Rejects with `CloseSpider` when it does not: its
 * pages could then reach whatever it can.
 */
export async function refuseOpenBrowser(
  browser: Browser,
  openEgress: OpenEgress,
  { egressHost, answerMsMax = ANSWER_MS_MAX }: Pick<BrowserSettings, 'egressHost'> & { answerMsMax?: number },
): Promise<void> {
  const egress = await openEgress(new Request(OUTSIDE), {
    bytesMax: 0,
    onTooMuch: () => {},
    blockedHosts: ['127.0.0.1', 'webloom-probe.invalid'],
    listenAt: egressHost,
  })
  const { server } = egress
  let isSilent = false
  try {
    await within(answerMsMax, 'the browser', askBoth(browser, egress))
  } catch (error) {
    // A browser without contexts of their own asks nothing by our proxy, either.
    isSilent = error instanceof NoAnswer
  }
  const asked = [...egress.hosts.keys()].map((place) => place.slice(0, place.lastIndexOf(':')))
  await egress.close()
  if (asked.includes('127.0.0.1') && asked.includes('webloom-probe.invalid')) return
  await waitAtMost(answerMsMax, browser.close())
  if (isSilent)
    throw unavailable(
      `the browser of BROWSER_CDP_URL was connected to, and opens no page within ${answerMsMax / 1000} s. Start it anew`,
    )
  throw unavailable(
    `the browser of BROWSER_CDP_URL does not ask the proxy of this worker (${server}), so nothing would keep its pages out of its network. Where it runs on another machine, name an address of this one that it can reach:  -s BROWSER_EGRESS_HOST=10.0.0.5  Where its network has nothing to hide:  -s BROWSER_CDP_TRUSTED=true`,
  )
}

async function askBoth(browser: Browser, { server, credentials }: Egress): Promise<void> {
  const context = await browser.newContext({
    proxy: { server, bypass: '<-loopback>', ...credentials },
  })
  const page = await context.newPage()
  for (const url of [OUTSIDE, INSIDE]) await page.goto(url, { timeout: PROBE_MS_MAX }).catch(() => {})
  await context.close()
}
