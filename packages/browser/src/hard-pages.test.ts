/** Pages that would hang a browser or fill a machine: each ends in time, with the right page or the right error. */

import type { ServerResponse } from 'node:http'
import { getPriority } from 'node:os'
import type { RequestMeta } from '@webloom/core'
import { IN_FULL } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPid } from '../testing/browser-processes.ts'
import { Browsing, Site } from '../testing/browsing.ts'
import { processTree } from './chromium/process-memory.ts'

/** Seconds: of pages that must not take longer, of those that are taken after a part of it, and of those that may take longer. */
const DEADLINE = { download_timeout: 3 }
/** A page without end keeps a core busy until then. */
const SHORT = { download_timeout: 1 }
const PARTLY = { download_timeout: 9 }
const PATIENCE = { download_timeout: 60 }
/** Three seconds without a byte are enough, however much time is left: well before the 15 that a page has to load. */
const STALLED_SECONDS_MAX = 12

let site: Site
let browsing: Browsing

class Crashes {
  readonly name = 'crashes'
  async crash(page: CrashingPage) {
    const session = await page.context().newCDPSession(page)
    await session.send('Page.crash')
  }
}

interface CrashingPage {
  context(): { newCDPSession(page: CrashingPage): Promise<{ send(method: string): Promise<unknown> }> }
}

beforeAll(async () => {
  site = await Site.start()
  browsing = await Browsing.open({
    settings: { BROWSER_MEMORY_MB: 1000, BROWSER_PAGES: 6, BROWSER_MAXSIZE: 1_000_000 },
    spider: new Crashes(),
  })
  site.html('/small', 'small')
  // Never answered.
  site.page('/never', () => {})
  site.page('/stream', (_, answer) => {
    const timer = setInterval(() => answer.write('data: 1\n\n'), 200)
    answer.writeHead(200, { 'content-type': 'text/event-stream' }).on('close', () => clearInterval(timer))
  })
  site.page('/download', (_, answer) =>
    answer.writeHead(200, { 'content-disposition': 'attachment; filename=a.bin' }).end('bytes'),
  )
  site.page('/api', (_, answer) => answer.end('1'))
  site.page('/worker.js', (_, answer) =>
    answer
      .writeHead(200, { 'content-type': 'text/javascript' })
      .end('onfetch = () => {}; setInterval(() => {}, 10)'),
  )
})
afterAll(async () => {
  await browsing[Symbol.asyncDispose]()
  await site[Symbol.asyncDispose]()
})

const SCRIPTS = {
  popups: 'for (let n = 0; n < 5; n++) window.open("/small")',
  dialogs: 'alert(1); confirm(2); prompt(3); onbeforeunload = (event) => event.preventDefault()',
  downloads: 'document.body.append(Object.assign(document.createElement("iframe"), { src: "/download" }))',
  'many frames': 'for (let n = 0; n < 30; n++) document.body.append(document.createElement("iframe"))',
  'a service worker': 'navigator.serviceWorker.register("/worker.js")',
  'sockets that never end': 'new WebSocket("ws://" + location.host + "/never"); new EventSource("/never")',
}
/** A script's requests are waited for a third of the time. */
const ASKING_SCRIPTS = {
  'endless requests': 'setInterval(() => fetch("/api?" + Math.random()), 50)',
  'a request without an answer': 'fetch("/never")',
}
const STALLING_SCRIPTS = {
  'a slow asset beside a stream':
    'document.body.append(Object.assign(new Image(), { src: "/never" })); new EventSource("/stream")',
  'a slow asset': 'document.body.append(Object.assign(new Image(), { src: "/never" }))',
  'a slow frame': 'document.body.append(Object.assign(document.createElement("iframe"), { src: "/never" }))',
}

/** The soak has a page for each; here one has several: what holds it up is found all the same. */
function onPages(scripts: Readonly<Record<string, string>>, ...pages: string[][]): [string, string][] {
  if (IN_FULL) return Object.entries(scripts)
  return pages.map((names) => [names.join(', '), names.map((name) => `{ ${scripts[name]} }`).join('\n')])
}

describe('the page comes', () => {
  async function comes(name: string, script: string, meta: RequestMeta) {
    const url = site.html(`/hard/${encodeURIComponent(name)}`, `<body><b>here</b><script>${script}</script>`)
    const response = await browsing.visit(url, { meta })
    expect(response.status).toBe(200)
    expect(response.text).toContain('<b>here</b>')
  }
  test.concurrent.each(
    onPages(
      SCRIPTS,
      ['popups', 'dialogs', 'downloads', 'a service worker', 'sockets that never end'],
      ['many frames'],
    ),
  )('with %s', (name, script) => comes(name, script, PATIENCE))
  // Not beside those: their time is bounded.
  test.each(onPages(ASKING_SCRIPTS, ['endless requests', 'a request without an answer']))(
    'with %s',
    (name, script) => comes(name, script, PARTLY),
  )
  test('and that its scripts had not got all that they had asked for is counted', () => {
    expect(browsing.stats.get('browser/unfinished')).toBeGreaterThan(0)
  })
})

describe('the page comes soon', () => {
  test.concurrent.each(onPages(STALLING_SCRIPTS, ['a slow asset beside a stream', 'a slow frame']))(
    'with %s',
    async (name, script) => {
      const url = site.html(
        `/hard/${encodeURIComponent(name)}`,
        `<body><b>here</b><script>${script}</script>`,
      )
      const response = await browsing.visit(url, { meta: PATIENCE })
      expect(response.text).toContain('<b>here</b>')
      expect(response.meta.download_latency).toBeLessThan(STALLED_SECONDS_MAX)
    },
  )
})

/** What a time-out says of where it was. */
const AT: Record<string, string> = {
  'for one that is not as it is waited for': 'it was at: waitFor ".never"',
}

describe('the error comes', () => {
  test.concurrent.each([
    ['for a page without end', 'while (true);', {}, 'DownloadTimeoutError'],
    ['for one that is not as it is waited for', '', { waitFor: '.never' }, 'DownloadTimeoutError'],
    [
      'for one that fills the memory',
      'const all = []; while (true) all.push(new Array(1e7).fill(1.5))',
      {},
      'DownloadFailedError',
    ],
    ['for one whose process crashes', '', { script: 'crash' }, 'DownloadFailedError'],
  ])('%s', async (name, script, browser, kind) => {
    const url = site.html(`/bad/${encodeURIComponent(name)}`, `<body><script>${script}</script>`)
    const isTimed = kind === 'DownloadTimeoutError'
    const bound = script.startsWith('while (true)') ? SHORT : isTimed ? DEADLINE : PATIENCE
    const began = performance.now()
    await expect(
      browsing.visit(url, { meta: { browser: browser as never, ...bound } }),
    ).rejects.toMatchObject({ kind, message: expect.stringContaining(AT[name] ?? '') })
    if (isTimed) expect(performance.now() - began).toBeLessThan(20_000)
  })

  test('for one that loads more than it may', async () => {
    site.page('/film', (_, answer) => {
      const more = () => {
        while (answer.write(Buffer.alloc(65_536)));
      }
      answer.writeHead(200, { 'content-type': 'text/plain' }).on('drain', more)
      more()
    })
    const url = site.html('/film-page', '<body><script>fetch("/film").then((film) => film.text())</script>')
    await expect(browsing.visit(url)).rejects.toMatchObject({
      kind: 'DownloadTooLargeError',
      reason: 'body_size',
    })
  })
})

test('when all are over no page is left, and a browser that is killed costs its pages nothing', async () => {
  const held: ServerResponse[] = []
  site.page('/held', (_, answer) => void held.push(answer))
  const url = site.html('/again', '<b>here</b><script>fetch("/held")</script>')
  const visits = Array.from({ length: 3 }, () => browsing.visit(url, { meta: { download_timeout: 60 } }))
  await expect.poll(() => held.length, { timeout: 20_000 }).toBe(3)
  site.page('/held', (_, answer) => answer.end())
  const priorities = (await processTree(browserPid())).map((pid) => getPriority(pid))
  // Its renderers, too, which were not there when it started.
  expect(new Set(priorities)).toEqual(new Set([5]))
  expect(priorities.length).toBeGreaterThan(4)
  process.kill(browserPid(), 'SIGKILL')
  for (const response of await Promise.all(visits)) expect(response.text).toContain('<b>here</b>')
  expect(browsing.stats.get('browser/rendered_again')).toBe(3)
  await browsing.handler.idle()
  expect(browsing.handler.pages).toBe(0)
})
