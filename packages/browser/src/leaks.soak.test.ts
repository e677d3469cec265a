/** What is left after many pages, and after browsers that were killed: nothing. */

import { expect, test } from 'vitest'
import { browserPid, browserPids } from '../testing/browser-processes.ts'
import { Browsing, Site } from '../testing/browsing.ts'
import { treeMemoryMb } from './chromium/process-memory.ts'

const MINUTES = 60_000
const PAGES = 2000

/** One page in ten. */
const HARD: readonly (readonly [script: string, isError: boolean | 'either'])[] = [
  ['for (let n = 0; n < 10; n++) window.open("/small")', false],
  ['alert(1); confirm(2)', false],
  ['while (true);', true],
  ['setInterval(() => fetch("/small?" + Math.random()), 20)', false],
  ['document.body.append(Object.assign(new Image(), { src: "/never" }))', false],
  ['new WebSocket("ws://" + location.host + "/never"); new EventSource("/never")', false],
  ['for (let n = 0; n < 1000; n++) document.body.append(document.createElement("iframe"))', 'either'],
  ['const all = []; while (true) all.push(new Array(1e7).fill(1.5))', true],
]

async function siteOfAll(): Promise<Site> {
  const site = await Site.start()
  site.html('/small', '<b>small</b>')
  site.page('/never', () => {})
  site.html(
    '/ordinary',
    '<p id=p></p><script>fetch("/small").then(() => { p.textContent = "drawn" })</script>',
  )
  for (const [index, [script]] of HARD.entries())
    site.html(`/hard/${index}`, `<body><b>here</b><script>${script}</script>`)
  return site
}

test(`${PAGES} pages, a tenth of them hard: each ends in time, and the memory is what it was`, {
  timeout: 25 * MINUTES,
}, async () => {
  await using site = await siteOfAll()
  await using browsing = await Browsing.open({
    settings: { DOWNLOAD_TIMEOUT: 3, BROWSER_PAGES: 4, BROWSER_RETIRE_AFTER: 0, BROWSER_MEMORY_MB: 0 },
  })
  const memory = async () => {
    await browsing.handler.idle()
    return (await treeMemoryMb(browserPid()))!
  }
  let slowestMs = 0
  let done = 0
  const wrong: string[] = []
  const visit = async (number: number) => {
    const hard = number % 10 === 9 ? Math.floor(number / 10) % HARD.length : -1
    const began = performance.now()
    const [path, isError] = hard < 0 ? ['/ordinary', false] : [`/hard/${hard}`, HARD[hard]![1]]
    const came = await browsing.visit(site.origin + path).then(
      ({ text }) => (hard >= 0 || text.includes('drawn') ? 'page' : 'half'),
      () => 'error',
    )
    slowestMs = Math.max(slowestMs, performance.now() - began)
    if (isError !== 'either' && (came === 'error') !== isError) wrong.push(`${path}: ${came}`)
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
  console.log({ early, late, slowestMs, wrong: wrong.length, stats: browsing.stats.snapshot() })
  expect(browsing.handler.pages).toBe(0)
  expect(late).toBeLessThan(1.2 * early)
  expect(slowestMs).toBeLessThan(15_000)
  // On a machine that is busy otherwise an ordinary page may take three seconds, too.
  expect(wrong.length).toBeLessThan(PAGES / 100)
})

test('browsers killed at random, 50 times: no page is lost, and no process is left', {
  timeout: 25 * MINUTES,
}, async () => {
  await using site = await siteOfAll()
  const browsing = await Browsing.open({ settings: { BROWSER_PAGES: 4 } })
  let rounds = 0
  const killing = (async () => {
    while (rounds < 50) {
      // Chance: a browser is killed at any point of its work.
      await new Promise((resolve) => setTimeout(resolve, 300 + 900 * Math.random()))
      try {
        process.kill(browserPid(), 'SIGKILL')
        rounds++
      } catch {
        // None has started yet.
      }
    }
  })()
  let pages = 0
  let lost = 0
  while (rounds < 50) {
    const visits = Array.from({ length: 4 }, () => browsing.visit(`${site.origin}/ordinary`))
    for (const { status } of await Promise.allSettled(visits)) status === 'fulfilled' ? pages++ : lost++
  }
  await killing
  console.log({ pages, lost, stats: browsing.stats.snapshot() })
  await browsing.handler.close()
  // A page that three browsers have ended under is tried again by the crawl (RETRY_TIMES).
  expect(lost).toBeLessThanOrEqual(pages / 20)
  await expect.poll(() => browserPids(), { timeout: 10_000 }).toEqual([])
})
