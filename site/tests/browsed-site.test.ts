/** The built site as a reader has it: in a browser, without a network, on a desktop and on a phone. */

import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startBrowser } from '@webloom/testkit'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressOf, DIST, type SiteServer, serveSite } from './site-server.ts'

/** To be looked at: nothing compares them. */
const SCREENSHOTS = join(import.meta.dirname, '../screenshots')
const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }

let site: SiteServer
let browser: Browser
beforeAll(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true })
  site = await serveSite()
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await site?.[Symbol.asyncDispose]()
})

/** A page of the site, and what it asked of others or complained of. */
async function opened(path: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: DESKTOP, ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(site.origin) && !request.url().startsWith('data:'))
      complaints.push(`asked ${request.url()}`)
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  await page.goto(site.origin + path, { waitUntil: 'networkidle' })
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() }
}

const screenshot = (page: Page, name: string) => page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })

describe('the search', () => {
  test.each([
    ['DOWNLOAD_DELAY', 'a setting', `${addressOf('settings')}#DOWNLOAD_DELAY`],
    ['WL_LEASE_LOST', 'an error code', `${addressOf('errors')}#WL_LEASE_LOST`],
    ['DupeFilter', 'an export of webloom/ports', '/api/webloom-ports/DupeFilter.html#dupefilter'],
    ['followAll', 'a method', '/api/webloom/Response.html#followall'],
  ])('%s, %s, is the first that is found, and the way there ends where it is', async (name, _, place) => {
    await using shown = await opened('/')
    const { page, complaints } = shown
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('searchbox').fill(name)
    const first = page.locator('.VPLocalSearchBox .result').first()
    await expect.poll(() => first.getAttribute('href')).toBe(place)
    await screenshot(page, `search-${name}`)
    await first.click()
    await page.waitForURL(`**${place}`)
    const found = page.locator(`[id="${place.split('#')[1]}"]`)
    await expect.poll(() => found.isVisible()).toBe(true)
    await expect.poll(async () => (await found.boundingBox())!.y).toBeLessThan(DESKTOP.height)
    expect(complaints).toEqual([])
  })
})

const PAGES = [
  ['home', '/'],
  ['settings', `${addressOf('settings')}#DOWNLOAD_DELAY`],
  ['errors', addressOf('errors')],
  ['from-scrapy', addressOf('from-scrapy')],
  ['performance', addressOf('performance')],
  ['guides', '/guides/'],
  ['api', '/api/'],
  ['api-entry', '/api/webloom/'],
  ['api-export', '/api/webloom/Response.html'],
] as const

const SOME_PAGES = PAGES.filter(([name]) => /^(?:home|settings|api-export)$/.test(name))

describe.each([
  ['desktop', 'light', DESKTOP, PAGES],
  ['desktop', 'dark', DESKTOP, SOME_PAGES],
  ['phone', 'light', PHONE, PAGES],
  ['phone', 'dark', PHONE, SOME_PAGES],
] as const)('on a %s, %s', (device, colorScheme, viewport, pages) => {
  test.each(pages)(
    '%s is as wide as the screen, asks for nothing outside, and has its colours',
    async (name, path) => {
      await using shown = await opened(path, { viewport, colorScheme })
      const { page, complaints } = shown
      await screenshot(page, `${name}-${device}-${colorScheme}`)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width)
      const isDark = await page.evaluate(() => document.documentElement.classList.contains('dark'))
      expect(isDark).toBe(colorScheme === 'dark')
      expect(complaints).toEqual([])
    },
  )
})

test('a phone’s menu opens, and leads to another page', async () => {
  await using shown = await opened('/', { viewport: PHONE })
  const { page } = shown
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.locator('.VPSidebar').getByRole('link', { name: 'Guarantees' }).click()
  await page.waitForURL(`**${addressOf('guarantees')}`)
  await expect.poll(() => page.locator('h1').textContent()).toContain('Guarantees')
})

test('dark and light are a switch, too', async () => {
  await using shown = await opened('/', { colorScheme: 'light' })
  const { page } = shown
  const isDark = () => page.evaluate(() => document.documentElement.classList.contains('dark'))
  expect(await isDark()).toBe(false)
  await page.locator('.VPNavBarAppearance .VPSwitchAppearance').click()
  await expect.poll(isDark).toBe(true)
})

test('llms.txt leads to the Markdown of every page, and llms-full.txt has them all', async () => {
  const index = readFileSync(join(DIST, 'llms.txt'), 'utf8')
  const whole = readFileSync(join(DIST, 'llms-full.txt'), 'utf8')
  const paths = [...index.matchAll(/\]\(([^)]+\.md)\)/g)].map(([, path]) => path!)
  expect(paths.length).toBeGreaterThan(500)
  for (const path of paths) {
    expect(whole).toContain(`<!-- ${path} -->`)
    expect(whole).toContain(readFileSync(join(DIST, path), 'utf8').trim())
  }
})
