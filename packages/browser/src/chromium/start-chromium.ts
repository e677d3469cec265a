/**
 * Starts a Chromium of ours, or connects to one that runs elsewhere.
 *
 * Ours is spoken to by a pipe, not by a port: nobody else on the machine can steer it, and it ends when the pipe does, so that none
 * outlives a worker that is killed. Its profile has a folder of ours; pages have contexts of their own, which write nothing there.
 */

import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { waitAtMost, within } from '@webloom/core'
import type { Browser, BrowserContext } from 'playwright-core'
import type { BrowserSettings } from '../browser-settings.ts'
import { chromiumFlags, WEBRTC_FLAG } from './chromium-flags.ts'
import { findChromium, unavailable } from './find-chromium.ts'
import { withBoundMessages } from './message-bound.ts'
import { processTree } from './process-memory.ts'
import { newProfileFolder, removeProfileFolder } from './profile-folders.ts'

/** A browser, and what is needed to end it. */
export interface StartedBrowser {
  readonly browser: Browser
  /** The process of ours; undefined for one that runs elsewhere. */
  readonly pid?: number
  /** Frees what the browser had beside its processes. */
  tidyUp(): void
}

// Half a second; on a machine that is busy otherwise it takes longer.
const START_MS_MAX = 30_000

// How long a browser that runs elsewhere may be away: a container that is started anew takes some seconds.
const BACK_MS_MAX = 60_000
const BACK_LOOK_MS = 500

// A system that is short of memory kills what has just started; a program that cannot run here ends by itself.
const STARTS_MAX = 3

// A third of the share that others have when all want the processor: pages over HTTP keep their rate, and rendered ones go on.
const NICE = 5

/**
 * Returns what would render pages here: the path of a program, or the address of a browser that runs elsewhere. Nothing is started. Throws
 * `CloseSpider` with what to do when there is none.
 */
export function browserHere(settings: BrowserSettings): string {
  if (settings.cdpUrl !== null) return settings.cdpUrl
  const path = findChromium(settings.executable)
  refuseSandboxOfRoot(settings)
  return path
}

/** Rejects with `CloseSpider`, which says what to do, when no Chromium can be started. */
export async function startBrowser(settings: BrowserSettings): Promise<StartedBrowser> {
  if (settings.cdpUrl !== null) return connect(settings.cdpUrl)
  const path = browserHere(settings)
  for (let time = 1; ; time++) {
    try {
      return await startChromium(path, settings)
    } catch (error) {
      if (time === STARTS_MAX || !wasKilled(error as Error)) throw cannotStart(path, error as Error)
    }
  }
}

/**
 * The same, where there was a browser before: one that runs elsewhere may be about to be started anew, and is waited for; its pages
 * wait meanwhile. Rejects as `startBrowser` when it has not come back in time, and at once when `signal` fires.
 */
export async function startedAgain(settings: BrowserSettings, signal: AbortSignal): Promise<StartedBrowser> {
  if (settings.cdpUrl === null) return startBrowser(settings)
  const untilMs = performance.now() + BACK_MS_MAX
  for (;;) {
    try {
      return await connect(settings.cdpUrl)
    } catch (error) {
      if (performance.now() + BACK_LOOK_MS > untilMs) throw error
      await sleep(BACK_LOOK_MS)
      signal.throwIfAborted()
    }
  }
}

async function startChromium(executablePath: string, settings: BrowserSettings): Promise<StartedBrowser> {
  const { chromium } = await import('playwright-core')
  const folder = newProfileFolder()
  const tidyUp = () => removeProfileFolder(folder)
  try {
    const context = await withBoundMessages(folder, () =>
      chromium.launchPersistentContext(folder, {
        executablePath,
        chromiumSandbox: settings.hasSandbox,
        args: chromiumFlags({ proxyHost: settings.egressHost, heapMb: settings.heapMb }),
        timeout: START_MS_MAX,
        // The crawl decides when its browser ends.
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
      }),
    )
    const browser = context.browser()!
    try {
      const pid = await within(START_MS_MAX, 'Chromium', settled(context))
      return { browser, tidyUp, ...(pid !== undefined && { pid }) }
    } catch (error) {
      await waitAtMost(START_MS_MAX, browser.close())
      throw error
    }
  } catch (error) {
    tidyUp()
    throw error
  }
}

/** Resolves to the browser's process once it has its place among others, and no page. */
async function settled(context: BrowserContext): Promise<number | undefined> {
  const pid = await pidOf(context.browser()!)
  if (pid !== undefined) await yieldToOthers(pid)
  await context.pages()[0]?.close()
  return pid
}

async function connect(url: string): Promise<StartedBrowser> {
  const { chromium } = await import('playwright-core')
  try {
    return { browser: await chromium.connectOverCDP(url, { timeout: START_MS_MAX }), tidyUp: () => {} }
  } catch (error) {
    throw unavailable(
      `BROWSER_CDP_URL leads to no browser: ${firstLine(error as Error)}. Start one there:  chromium --headless --remote-debugging-port=9222 ${WEBRTC_FLAG}`,
      error,
    )
  }
}

/**
 * Pages take whatever processor time there is; those over HTTP need little, and at once. What renders pages inherits this from the
 * processes that are there at the start.
 */
async function yieldToOthers(pid: number): Promise<void> {
  if (process.platform !== 'linux') return
  for (const one of await processTree(pid)) {
    try {
      setPriority(one, NICE)
    } catch {
      // It has ended, or may not be told.
    }
  }
}

async function pidOf(browser: Browser): Promise<number | undefined> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return processInfo.find(({ type }) => type === 'browser')?.id
}

function refuseSandboxOfRoot({ hasSandbox }: BrowserSettings): void {
  if (!hasSandbox || process.platform !== 'linux' || process.getuid?.() !== 0) return
  throw unavailable(
    'Chromium has no sandbox when root runs it, and this worker is root. Run it as another user; or, where its container is all the protection that you want:  -s BROWSER_SANDBOX=false',
  )
}

/** Whether it was ended from outside: as Playwright writes of a process, and a shell of the program that it has become. */
function wasKilled({ message }: Error): boolean {
  return /signal=SIGKILL|exitCode=137\b/.test(message) || /^(?!browserType\.).*has been closed/.test(message)
}

function cannotStart(path: string, error: Error): Error {
  if (
    /No usable sandbox|setuid sandbox|sandbox_host_linux|Failed to move to new namespace/i.test(error.message)
  )
    return unavailable(
      `${path} cannot have its sandbox here: this system, or the container, forbids user namespaces. Ubuntu allows them with  sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 ; Docker lets them through with  --security-opt seccomp=node_modules/@webloom/browser/chromium-seccomp.json  (docs/guides/browser.md); without any sandbox:  -s BROWSER_SANDBOX=false`,
      error,
    )
  return unavailable(`${path} does not start: ${whyIn(error)}`, error)
}

/** Returns the line that says why, of Playwright's long message. A system without D-Bus, as in containers, is no reason. */
function whyIn(error: Error): string {
  const lines = stripVTControlCharacters(error.message)
    .split('\n')
    .filter((line) => !line.includes('dbus'))
  const why = lines.find((line) => /error while loading|cannot open|ERROR|FATAL|ENOENT|EACCES/.test(line))
  if (why === undefined && /has been closed/.test(lines[0]!))
    return 'it ended at once, as what is no Chromium does; its --version tells what it is'
  return (why ?? lines[0]!).replace(/^\s*-?\s*(\[pid=\d+\]\[err\]\s*)?/, '')
}

export function firstLine({ message }: Error): string {
  return message.split('\n')[0]!
}
