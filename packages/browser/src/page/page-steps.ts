/** What a request asks to be done with its page, in the order that `BrowserOptions` states. */

import type { BrowserClick, BrowserOptions, Rendered } from '@webloom/core'
import type { Page } from 'playwright-core'
import type { PageQuiet } from './page-quiet.ts'
import type { PageScript } from './page-script.ts'
import type { PageWorld } from './page-world.ts'

/** What `scroll: true` stands for. */
const SCROLLS = 20
/** Pages do not load more at once when they are scrolled: most wait until that has ended. */
const GROW_MS_MAX = 1000

export interface StepsOptions {
  readonly page: Page
  readonly world: PageWorld
  readonly wanted: BrowserOptions
  readonly quiet: PageQuiet
  /** Told which step is under way. */
  readonly onStep: (step: string) => void
  /** Milliseconds until the page's time is over. */
  readonly leftMs: () => number
  /** The spider's method, bound to what it gets beside the page. */
  readonly script?: PageScript
}

/** Returns whether a request asks for more than to look at the page. */
export function hasSteps({ fill, click, scroll, script }: BrowserOptions): boolean {
  return Boolean(fill || click || scroll || script)
}

export async function doSteps(
  options: StepsOptions,
): Promise<Pick<Rendered, 'screenshot' | 'pdf' | 'returned'>> {
  const { page, wanted, script, onStep } = options
  for (const [selector, text] of Object.entries(wanted.fill ?? {})) {
    onStep(`fill ${JSON.stringify(selector)}`)
    await page.fill(selector, text)
  }
  for (const click of clicksOf(wanted.click)) {
    onStep(`click ${JSON.stringify(click.selector)}`)
    await clickAll(click, options)
  }
  if (wanted.waitFor !== undefined) onStep(`waitFor ${JSON.stringify(wanted.waitFor)}`)
  await waitFor(options)
  if (wanted.scroll) {
    onStep('scroll')
    await scrollDown(wanted.scroll === true ? SCROLLS : wanted.scroll, options)
  }
  if (script) onStep(`script ${JSON.stringify(wanted.script)}`)
  const returned = await script?.(page)
  onStep('pictures')
  const screenshot =
    wanted.screenshot &&
    (await page.screenshot({ fullPage: wanted.screenshot === 'full', animations: 'disabled', timeout: 0 }))
  const pdf = wanted.pdf && (await page.pdf({ printBackground: true }))
  return {
    ...(returned !== undefined && { returned }),
    ...(screenshot && { screenshot }),
    ...(pdf && { pdf }),
  }
}

function clicksOf(click: BrowserOptions['click'] = []): BrowserClick[] {
  const list = Array.isArray(click) ? click : [click]
  return list.map((one) => (typeof one === 'string' ? { selector: one } : one))
}

async function clickAll(
  { selector, times }: BrowserClick,
  { page, quiet, leftMs }: StepsOptions,
): Promise<void> {
  await page.click(selector)
  await quiet.quiet(leftMs())
  for (let done = 1; done < (times ?? 1); done++) {
    const button = page.locator(selector).first()
    if (!(await button.isVisible())) return
    await button.click()
    await quiet.quiet(leftMs())
  }
}

/** What the page asks for beside the element is waited for, too: a list may come in parts. */
async function waitFor({ page, world, quiet, leftMs, wanted }: StepsOptions): Promise<void> {
  if (wanted.waitFor === undefined) return
  if (typeof wanted.waitFor === 'number') return page.waitForTimeout(wanted.waitFor)
  const seen = await world.look(wanted.waitFor)
  if (seen === 'missing') await page.locator(wanted.waitFor).first().waitFor({ state: 'attached' })
  // What scripts ask for as they draw the element is told a little later.
  if (seen !== 'there' || quiet.isBusy) await quiet.quiet(leftMs())
}

/** Runs in the page, and is a text here: our types know no `document`. */
const SCROLL = `(() => {
  const { scrollHeight } = document.scrollingElement ?? document.documentElement
  window.scrollTo(0, scrollHeight)
  return scrollHeight
})()`

/** Resolves to whether the page is longer than it was, as soon as it is. */
const GROWS = `async (before, msMax) => {
  const isLonger = () => (document.scrollingElement ?? document.documentElement).scrollHeight > before
  const until = performance.now() + msMax
  while (!isLonger() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 50))
  return isLonger()
}`

/** Down to the end, as long as the page becomes longer. */
async function scrollDown(times: number, { page, quiet, leftMs, wanted }: StepsOptions): Promise<void> {
  for (let done = 0; done < times; done++) {
    const before = await page.evaluate<number>(SCROLL)
    const grows = () => page.evaluate<boolean>(`(${GROWS})(${before}, ${GROW_MS_MAX})`)
    await quiet.quiet(leftMs())
    let isLonger = await grows()
    if (!isLonger && quiet.isBusy) {
      await quiet.quiet(leftMs())
      isLonger = await grows()
    }
    if (wanted.scroll === true && !isLonger) return
  }
}
