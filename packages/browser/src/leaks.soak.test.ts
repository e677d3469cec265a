/** What is left after many pages, and after browsers that were killed: nothing. */

import { expect, test } from 'vitest'
import { browserPid, browserPidNow, browserSessions, pidsIn } from '../testing/browser-processes.ts'
import { Browsing } from '../testing/browsing.ts'
import {
  Crashes,
  HARD_PAGES,
  type HardPage,
  hardSite,
  hardUrl,
  type Outcome,
  TOO_LATE,
} from '../testing/hard-site.ts'
import { treeMemoryMb } from './chromium/process-memory.ts'

const MINUTES = 60_000
const PAGES = 2000

/** One page in ten is a hard one. */
const ORDINARY: HardPage = { name: 'ordinary', outcomes: [200] }

/** Seconds: of what must not hold up a crawl, of what is to come although something in it never does, and of pages that are as most are. */
function deadlineOf({ name, outcomes }: HardPage): number {
  if (outcomes.includes(TOO_LATE)) return 3
  return name === ORDINARY.name ? 60 : 9
}

test(`${PAGES} pages, a tenth of them hard: each ends in time, and the memory is what it was`, {
  timeout: 25 * MINUTES,
}, async () => {
  await using site = await hardSite()
  await using browsing = await Browsing.open({
    settings: { BROWSER_PAGES: 4, BROWSER_RETIRE_AFTER: 0, BROWSER_MEMORY_MB: 0 },
    spider: new Crashes(),
  })
  const memory = async () => {
    await browsing.handler.idle()
    return (await treeMemoryMb(browserPid()))!
  }
  let slowestMs = 0
  let done = 0
  /** How often something came of a page that must not. */
  const wrong: Record<string, number> = {}
  const outcomeOf = async (page: HardPage): Promise<Outcome> => {
    const url = page === ORDINARY ? `${site.origin}/ordinary` : hardUrl(site, page)
    const { script } = page
    try {
      const meta = { browser: script ? { script } : true, download_timeout: deadlineOf(page) }
      const { status, text } = await browsing.visit(url, { meta })
      return page !== ORDINARY || text.includes('drawn') ? status : 'half drawn'
    } catch (error) {
      return String((error as { kind?: string }).kind ?? error)
    }
  }
  const visit = async (number: number) => {
    const page = number % 10 === 9 ? HARD_PAGES[Math.floor(number / 10) % HARD_PAGES.length]! : ORDINARY
    const began = performance.now()
    const outcome = await outcomeOf(page)
    slowestMs = Math.max(slowestMs, performance.now() - began)
    if (page.outcomes.includes(outcome)) return
    const what = `${page.name}: ${outcome}`
    wrong[what] = (wrong[what] ?? 0) + 1
  }
  const run = async (until: number) => {
    const workers = Array.from({ length: 4 }, async () => {
      while (done < until) await visit(done++)
    })
    await Promise.all(workers)
  }
  await run(100)
  const early = await memory()
  await run(PAGES)
  const late = await memory()
  console.log({ early, late, slowestMs, wrong, stats: browsing.stats.snapshot() })
  expect(browsing.handler.pages).toBe(0)
  expect(late).toBeLessThan(1.2 * early)
  expect(slowestMs).toBeLessThan(15_000)
  // On a machine that is busy otherwise a hard page, and no other, may take nine seconds.
  const isLate = ([what]: [string, number]) => /^(?!ordinary).*: DownloadTimeoutError$/.test(what)
  const all = Object.entries(wrong)
  expect(all.filter((one) => !isLate(one))).toEqual([])
  expect(all.reduce((sum, [, count]) => sum + count, 0)).toBeLessThan(PAGES / 400)
})

test('browsers killed at random, 50 times: a page comes or is one to try again, and no process is left', {
  timeout: 25 * MINUTES,
}, async () => {
  await using site = await hardSite()
  const browsing = await Browsing.open({ settings: { BROWSER_PAGES: 4 } })
  let rounds = 0
  let pages = 0
  let lost = 0
  const sessions = new Set<number>()
  const kill = () => {
    for (const session of browserSessions()) sessions.add(session)
    const pid = browserPidNow()
    if (pid === undefined) return
    process.kill(pid, 'SIGKILL')
    rounds++
  }
  // After so many pages: were it by the clock alone, a machine that is busy otherwise would not get any page done between two kills.
  const someNow = () => pages + 1 + Math.floor(8 * Math.random())
  let nextAt = someNow()
  const visit = () =>
    browsing.visit(`${site.origin}/ordinary`).then(
      () => {
        if (++pages < nextAt) return
        nextAt = someNow()
        // Chance: a browser is killed at any point of its work, when it has just started, too.
        setTimeout(kill, 500 * Math.random())
      },
      (error: unknown) => {
        lost++
        expect(error).toMatchObject({ kind: 'DownloadFailedError' })
      },
    )
  while (rounds < 50) await Promise.all([visit(), visit(), visit(), visit()])
  console.log({ pages, lost, stats: browsing.stats.snapshot() })
  await browsing.handler.close()
  // A page that three browsers have ended under is tried again by the crawl (RETRY_TIMES).
  expect(lost).toBeLessThanOrEqual(pages / 20)
  await expect.poll(() => pidsIn([...sessions, ...browserSessions()]), { timeout: 10_000 }).toEqual([])
})
