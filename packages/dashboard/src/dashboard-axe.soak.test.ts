/**
 * Every view in a real browser, as axe-core judges it: WCAG 2.2 AA, in light and dark, wide and on a phone; and what
 * dashboard-browser.test.ts looks at, on more pages and in both themes.
 */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { startBrowser } from '@webloom/testkit'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ToldDesks } from '../testing/told-desks.ts'
import './dashboard-browser.test.ts'
import { type Dashboard, startDashboard } from './start-dashboard.ts'
import { VIEWS } from './views/views.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const ADDRESSES = [
  '',
  ...VIEWS.map(({ path }) => `c/bookshops/${path}`),
  'c/bookshops/host?name=a.example',
  'c/bookshops/failures?response=x',
  'c/none/overview',
]
const SIZES = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
]

let browser: Browser
let dashboard: Dashboard

beforeAll(async () => {
  browser = await startBrowser()
  dashboard = await startDashboard({ desks: new ToldDesks(), port: 0, control: true })
})
afterAll(async () => {
  await browser?.close()
  await dashboard?.close()
})

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

test.each(['light', 'dark'] as const)(
  'nothing is wrong with any view in %s',
  async (colorScheme) => {
    for (const viewport of SIZES) {
      // Its policy lets no script in but its own; the test's is put in by the browser.
      const context = await browser.newContext({ colorScheme, viewport, bypassCSP: true })
      const page = await context.newPage()
      for (const path of ADDRESSES) {
        await page.goto(dashboard.url + path)
        for (const summary of await page.locator('summary').all()) await summary.click()
        await page.evaluate(AXE)
        const found =
          await page.evaluate(`axe.run(document, { runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html.slice(0, 160) + ' ' + failureSummary).join('\\n')))`)
        expect(found, `${path} ${colorScheme} ${viewport.width}`).toEqual([])
      }
      await context.close()
    }
  },
  300_000,
)

test('each thing that can be done is reached by Tab, and shows that it is reached', async () => {
  const page = await browser.newPage()
  for (const path of ADDRESSES) {
    await page.goto(dashboard.url + path)
    const reachable = await page.locator('a:visible, button:visible, input:visible, summary:visible').count()
    const met = new Set<string>()
    for (let n = 0; n < reachable + 40; n++) {
      await page.keyboard.press('Tab')
      const at = await page.evaluate(`(() => {
        const one = document.activeElement
        if (!one || one === document.body) return ''
        const style = getComputedStyle(one)
        const n = [...document.querySelectorAll('*')].indexOf(one)
        return one.localName + ' ' + n + (style.outlineStyle === 'none' ? ' unseen' : '')
      })()`)
      met.add(String(at))
    }
    const done = [...met].filter((one) => /^(a|button|input|summary) /.test(one))
    expect(
      done.filter((one) => one.endsWith('unseen')),
      path,
    ).toEqual([])
    expect(done.length, path).toBeGreaterThanOrEqual(reachable - 1)
  }
  await page.close()
}, 300_000)
