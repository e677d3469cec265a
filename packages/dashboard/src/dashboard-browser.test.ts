/** The pages in a real browser. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { IN_FULL, startBrowser } from '@webloom/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FAILURES, LONG_TITLE, STATUS } from '../testing/made-up-crawl.ts'
import { MadeUpDesks } from '../testing/made-up-desks.ts'
import { ToldDesks } from '../testing/told-desks.ts'
import { type Dashboard, startDashboard } from './start-dashboard.ts'
import { VIEWS } from './views/views.ts'

/** Runs in the page. */
const INSPECTION = readFileSync(join(import.meta.dirname, '../testing/inspect-page.js'), 'utf8')
const PHONE = { width: 390, height: 844 }
const THEMES = ['light', 'dark'] as const
const ADDRESSES = ['', ...VIEWS.map(({ path }) => `c/bookshops/${path}`)]

let browser: Browser
let dashboard: Dashboard
let desks: MadeUpDesks

beforeAll(async () => {
  desks = new MadeUpDesks()
  browser = await startBrowser()
  dashboard = await startDashboard({ desks, port: 0 })
})
afterAll(async () => {
  await browser?.close()
  await dashboard?.close()
})

type PageOptions = NonNullable<Parameters<Browser['newPage']>[0]>

/** A page on which nothing may go wrong. */
async function opened(
  path: string,
  options: PageOptions = {},
): Promise<{ page: Page; problems: string[] } & AsyncDisposable> {
  const page = await browser.newPage(options)
  const problems: string[] = []
  page.on('console', (line) => {
    if (line.type() === 'error' || line.type() === 'warning')
      problems.push(`${line.text()} ${line.location().url}`)
  })
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(dashboard.url + path)
  return { page, problems, [Symbol.asyncDispose]: () => page.close() }
}

test('every page fits a phone, has readable contrast, and names what can be reached by keyboard', async () => {
  await using at = await opened('', { viewport: PHONE })
  for (const [n, path] of ADDRESSES.entries()) {
    await at.page.goto(dashboard.url + path)
    // The soak looks at each page in both themes; here they take turns.
    for (const colorScheme of IN_FULL ? THEMES : [THEMES[n % 2]!]) {
      await at.page.emulateMedia({ colorScheme })
      const found = await at.page.evaluate(INSPECTION)
      expect(found, `${path} ${colorScheme}`).toEqual({
        sideways: 0,
        cut: [],
        faint: [],
        nameless: [],
        headings: 1,
      })
    }
  }
  expect(at.problems).toEqual([])
})

test('figures move by themselves; what somebody has opened stays open; away and back is seen', async () => {
  await using at = await opened('c/bookshops/failures')
  await at.page.locator('summary').last().click()
  desks.failures = FAILURES.map((group) => ({ ...group, count: 1070 }))
  await at.page.getByText('1,070').first().waitFor()
  expect(await at.page.locator('details[open]').count()).toBe(1)
  desks.trouble = 'Redis at 10.0.4.2:6379/0 cannot be reached'
  await at.page.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor()
  desks.trouble = undefined
  await at.page.getByRole('alert').waitFor({ state: 'hidden' })
  desks.failures = FAILURES
  await at.page.getByText('130', { exact: true }).first().waitFor()
  expect(at.problems).toEqual([])
})

test('a page that was opened while Redis was away is there when it is back', async () => {
  const away = new MadeUpDesks()
  away.trouble = 'Redis is away'
  const other = await startDashboard({ desks: away, port: 0 })
  const page = await browser.newPage()
  await page.goto(`${other.url}c/bookshops/workers`)
  expect(await page.getByRole('alert').textContent()).toContain('Redis is away')
  away.trouble = undefined
  await page.getByRole('table').waitFor()
  await page.close()
  await other.close()
})

test('the overview has a curve that the script draws, and one without it', async () => {
  await using at = await opened('c/bookshops/overview')
  await at.page.locator('.chart canvas').waitFor()
  expect(at.problems).toEqual([])
  const context = await browser.newContext({ javaScriptEnabled: false })
  const still = await context.newPage()
  await still.goto(`${dashboard.url}c/bookshops/overview`)
  expect(await still.locator('.chart svg').count()).toBe(1)
  expect(await still.getByText('184,320').first().isVisible()).toBe(true)
  await context.close()
})

test('by keyboard: past the views to the figures, a URL asked about, colours changed', async () => {
  await using at = await opened('c/bookshops/dedup')
  await at.page.keyboard.press('Tab')
  await at.page.keyboard.press('Enter')
  await at.page.locator('#main:focus').waitFor()
  await at.page.keyboard.press('Tab')
  await at.page.keyboard.type('https://a.example/known')
  await at.page.keyboard.press('Enter')
  await at.page.getByText('seen before').first().waitFor()
  await at.page.getByRole('link', { name: 'Colours: dark' }).press('Enter')
  await at.page.locator('html[data-theme=dark]').waitFor()
  expect(await at.page.getByLabel('Has the crawl seen this URL?').inputValue()).toBe(
    'https://a.example/known',
  )
})

test('buttons work with a script and without one, and what somebody types stays', async () => {
  const told = new ToldDesks()
  const steered = await startDashboard({ desks: told, port: 0, control: true })
  for (const javaScriptEnabled of [true, false]) {
    const context = await browser.newContext({ javaScriptEnabled })
    const page = await context.newPage()
    await page.goto(`${steered.url}c/bookshops/overview`)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('The crawl is paused').waitFor()
    await page.goto(`${steered.url}c/bookshops/host?name=a.example`)
    await page.getByLabel('Seconds between two requests').fill('2.5')
    await page.getByRole('button', { name: 'Set the delay' }).click()
    await page.getByText('All workers know of it').waitFor()
    if (javaScriptEnabled) {
      await page.goto(`${steered.url}c/bookshops/overview`)
      await page.getByText('Stop…').click()
      await page.getByLabel('The reason').fill('enough')
      told.status = { ...STATUS, paused: true }
      await page.getByRole('button', { name: 'Go on' }).waitFor()
      expect(await page.getByLabel('The reason').inputValue()).toBe('enough')
      told.status = STATUS
    }
    await context.close()
  }
  const once = [['pause'], ['setHost', 'a.example', { delayMs: 2500 }]]
  expect(told.told).toEqual([...once, ...once])
  await steered.close()
})

test('a title with markup, control bytes or ten megabytes runs nothing and takes little room', async () => {
  desks.items = { last: [{ at: null, json: JSON.stringify({ title: LONG_TITLE }) }] }
  const views = ['c/bookshops/items', 'c/bookshops/failures', ...(IN_FULL ? ['', 'c/bookshops/hosts'] : [])]
  for (const path of views) {
    await using at = await opened(path)
    expect(await at.page.title()).not.toBe('owned')
    expect(await at.page.locator('img, main script, main b > b').count()).toBe(0)
    expect(at.problems).toEqual([])
  }
  desks.items = {}
})
