/**
 * Pictures of the dashboard, of made-up crawls, so that they are the same each time.
 *
 *     npm run build && node_modules/.bin/node scripts/dashboard-pictures.ts            those of the docs, in docs/dashboard/
 *     npm run build && node_modules/.bin/node scripts/dashboard-pictures.ts <folder>   every view in light, in dark and on a phone, to be looked at
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startDashboard } from '@webloom/dashboard'
import { startBrowser } from '@webloom/testkit'
import type { Browser } from 'playwright-core'
import { ToldDesks } from '../packages/dashboard/testing/told-desks.ts'

interface Picture {
  readonly name: string
  readonly path: string
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
  readonly height: number
  /** All of the page; else what a screen shows of it. */
  readonly isWhole?: boolean
}

const WIDE = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }
const CRAWL = 'c/bookshops'

const VIEWS = 'overview hosts failures skips dedup items workers redis settings runs'.split(' ')

const OF_DOCS: readonly Picture[] = [
  { name: 'overview', path: `${CRAWL}/overview`, colorScheme: 'light', ...WIDE },
  { name: 'overview-dark', path: `${CRAWL}/overview`, colorScheme: 'dark', ...WIDE },
  { name: 'workers', path: `${CRAWL}/workers`, colorScheme: 'light', width: 1280, height: 620 },
]

const EVERY_VIEW: readonly Picture[] = [
  ['crawls', ''],
  ...VIEWS.map((path) => [path, `${CRAWL}/${path}`] as const),
  ['host', `${CRAWL}/host?name=a.example`],
  ['response', `${CRAWL}/failures?response=x`],
].flatMap(([name, path]): Picture[] => [
  { name: `${name}-light`, path: path!, colorScheme: 'light', ...WIDE, isWhole: true },
  { name: `${name}-dark`, path: path!, colorScheme: 'dark', ...WIDE, isWhole: true },
  { name: `${name}-phone`, path: path!, colorScheme: 'light', ...PHONE, isWhole: true },
])

const [folder] = process.argv.slice(2)
const into = folder ?? join(import.meta.dirname, '../docs/dashboard')
mkdirSync(into, { recursive: true })
await using browser = await startBrowser()
// A tidy crawl for the docs; for who looks at every view, one with all that may go wrong.
const dashboard = await startDashboard({ desks: new ToldDesks(), port: 0, control: folder !== undefined })
for (const picture of folder === undefined ? OF_DOCS : EVERY_VIEW) await take(browser, picture)
await dashboard.close()

async function take(from: Browser, { name, path, colorScheme, width, height, isWhole }: Picture) {
  const context = await from.newContext({ colorScheme, viewport: { width, height }, deviceScaleFactor: 1 })
  const page = await context.newPage()
  await page.goto(dashboard.url + path)
  if (path.endsWith('/overview')) await page.locator('.chart canvas').waitFor()
  await page.getByText('live', { exact: true }).waitFor()
  await page.screenshot({ path: join(into, `${name}.png`), fullPage: isWhole === true })
  await context.close()
}
