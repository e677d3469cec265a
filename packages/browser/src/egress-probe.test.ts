import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureChromium } from '@webloom/testkit'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browsing, Site } from '../testing/browsing.ts'
import { WEBRTC_FLAG } from './chromium/chromium-flags.ts'
import { refuseOpenBrowser } from './chromium/egress-probe.ts'

interface Elsewhere {
  readonly url: string
  readonly port: string
  isThere(): boolean
  freeze(): void
  thaw(): void
  stop(): void
}

/** A Chromium that somebody else has started, with a port for its DevTools. */
async function startElsewhere(...flags: string[]): Promise<Elsewhere> {
  const profile = mkdtempSync(join(tmpdir(), 'webloom-elsewhere-'))
  const program = spawn(
    await ensureChromium(),
    ['--headless', '--no-sandbox', '--remote-debugging-port=0', ...flags, `--user-data-dir=${profile}`],
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  )
  const url = await new Promise<string>((resolve) => {
    let text = ''
    program.stderr.on('data', (chunk) => {
      text += chunk
      const found = /DevTools listening on (ws:\S+)/.exec(text)?.[1]
      if (found) resolve(found)
    })
  })
  return {
    url,
    port: new URL(url).port,
    isThere: () => program.exitCode === null && program.signalCode === null,
    freeze: () => void process.kill(-program.pid!, 'SIGSTOP'),
    thaw: () => void process.kill(-program.pid!, 'SIGCONT'),
    stop() {
      try {
        process.kill(-program.pid!, 'SIGKILL')
      } catch {
        // It was stopped before.
      }
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

let site: Site
/** Started with the flag that closes WebRTC's way round our proxy, */
let closed: Elsewhere
/** and without it. */
let open: Elsewhere
beforeAll(async () => {
  site = await Site.start()
  closed = await startElsewhere(WEBRTC_FLAG)
  open = await startElsewhere()
})
afterAll(async () => {
  closed?.stop()
  open?.stop()
  await site[Symbol.asyncDispose]()
})

test('a browser that runs elsewhere renders through our proxy, and stays when the crawl is over', async () => {
  for (const BROWSER_EGRESS_HOST of ['127.0.0.1', '127.0.0.2']) {
    await using browsing = await Browsing.open({
      settings: { BROWSER_CDP_URL: closed.url, BROWSER_EGRESS_HOST },
    })
    const url = site.html('/page', '<p id=p></p><script>p.textContent = "drawn"</script>')
    expect((await browsing.visit(url)).text).toContain('drawn')
    await browsing.handler.idle()
    expect(browsing.stats.get('browser/requests')).toBeGreaterThan(0)
  }
})

test('one that does not take our proxy is refused, with what to do', async () => {
  // The browser is told of an address that nobody listens at: as where it runs on a machine that cannot reach the worker.
  await using browsing = await Browsing.open({
    settings: { BROWSER_CDP_URL: open.url },
    egressShown: 'http://127.0.0.1:9',
  })
  await expect(browsing.visit(site.origin)).rejects.toMatchObject({
    reason: 'browser_unavailable',
    message: expect.stringMatching(
      /does not ask the proxy of this worker.*BROWSER_EGRESS_HOST.*BROWSER_CDP_TRUSTED=true/s,
    ),
  })
})

test('one whose WebRTC goes past our proxy is refused, with the flag to start it with, unless it is trusted', async () => {
  await using browsing = await Browsing.open({ settings: { BROWSER_CDP_URL: open.url } })
  await expect(browsing.visit(site.origin)).rejects.toMatchObject({
    reason: 'browser_unavailable',
    message: expect.stringContaining(`Start it with  ${WEBRTC_FLAG} `),
  })
  await using trusting = await Browsing.open({
    settings: { BROWSER_CDP_URL: open.url, BROWSER_CDP_TRUSTED: true },
  })
  expect((await trusting.visit(site.html('/trusted', 'let in'))).text).toContain('let in')
})

test('one whose sockets go past our proxy is refused', async () => {
  await using browsing = await Browsing.open()
  const browser = await chromium.connectOverCDP(closed.url)
  // Lightpanda's go another way than what else its pages ask for: our proxy does not see them.
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (options) => {
    const context = await newContext(options)
    await context.addInitScript('WebSocket = class { constructor() { setTimeout(() => this.onerror()) } }')
    return context
  }
  await expect(
    refuseOpenBrowser(browser, browsing.crawler.openEgress!, { egressHost: '127.0.0.1' }),
  ).rejects.toMatchObject({
    reason: 'browser_unavailable',
    message: expect.stringMatching(/opens WebSockets past the proxy.*BROWSER_CDP_TRUSTED=true/),
  })
  await browser.close()
})

test('one that opens no page is waited for so long and no longer', async () => {
  await using browsing = await Browsing.open()
  const browser = await chromium.connectOverCDP(open.url)
  open.freeze()
  try {
    await expect(
      refuseOpenBrowser(browser, browsing.crawler.openEgress!, {
        egressHost: '127.0.0.1',
        answerMsMax: 200,
      }),
    ).rejects.toMatchObject({
      reason: 'browser_unavailable',
      message: expect.stringContaining('opens no page within 0.2 s'),
    })
  } finally {
    open.thaw()
  }
  await browser.close()
})

test('a browser that is not there ends the crawl with the line to type', async () => {
  const unavailable = (settings: object, message: RegExp) =>
    Browsing.open({ settings }).then(async (browsing) => {
      await expect(browsing.visit(site.origin)).rejects.toMatchObject({
        reason: 'browser_unavailable',
        message: expect.stringMatching(message),
      })
      expect(browsing.handler.pages).toBe(0)
    })
  await unavailable({ BROWSER_EXECUTABLE: '/no/such/chrome' }, /BROWSER_EXECUTABLE is "\/no\/such\/chrome"/)
  await unavailable({ BROWSER_EXECUTABLE: process.execPath, BROWSER_SANDBOX: false }, /does not start: /)
  await unavailable(
    { BROWSER_CDP_URL: 'http://127.0.0.1:1' },
    /leads to no browser: .*--remote-debugging-port=9222/,
  )
  await unavailable(
    { BROWSER_EGRESS_HOST: '192.0.2.1' },
    /BROWSER_EGRESS_HOST is "192.0.2.1"; expected an address of this machine/,
  )
  if (process.getuid?.() === 0)
    await unavailable({ BROWSER_SANDBOX: true }, /this worker is root.*BROWSER_SANDBOX=false/)
})

test('one that is started anew is reached again: its pages wait for it', async () => {
  // A second try may come to one that is stopped.
  if (!closed.isThere()) closed = await startElsewhere(WEBRTC_FLAG)
  const { port } = closed
  await using browsing = await Browsing.open({
    settings: { BROWSER_CDP_URL: `http://127.0.0.1:${port}` },
  })
  const url = site.html('/anew', 'anew')
  await browsing.visit(url)
  await browsing.handler.idle()
  closed.stop()
  const visit = browsing.visit(url)
  visit.catch(() => {})
  closed = await startElsewhere(WEBRTC_FLAG, `--remote-debugging-port=${port}`)
  expect((await visit).text).toContain('anew')
})
