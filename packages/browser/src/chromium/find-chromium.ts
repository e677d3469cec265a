import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { CloseSpider } from '@webloom/core'

/** In the order in which they are looked for in PATH: the headless shell starts soonest and takes least. */
const PROGRAMS = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
]

/** Where installers put it that change no PATH. */
const PLACES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  win32: [
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
  ],
}

/**
 * Returns the path of the browser that renders: BROWSER_EXECUTABLE, or the first that is found. Throws, with what to type, when
 * there is none.
 */
export function findChromium(named: string | null, env: NodeJS.ProcessEnv = process.env): string {
  if (named !== null) {
    if (isProgram(named)) return named
    throw unavailable(
      `BROWSER_EXECUTABLE is ${JSON.stringify(named)}, which is no program that can be run; name a Chromium, or leave it out to have one looked for in PATH`,
    )
  }
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const inPath = PROGRAMS.flatMap((name) => folders.map((folder) => join(folder, name)))
  const found = [...inPath, ...(PLACES[process.platform] ?? [])].find(isProgram)
  if (found !== undefined) return found
  throw unavailable(
    `meta.browser needs a Chromium, and none of ${PROGRAMS.slice(0, 4).join(', ')} is in PATH. Get one, or name it:\n  sudo apt-get install chromium-headless-shell   (Debian)\n  -s BROWSER_EXECUTABLE=/path/to/chrome   or   -s BROWSER_CDP_URL=http://127.0.0.1:9222`,
  )
}

/** The end of a crawl whose pages this machine cannot render. The request goes back to the queue. */
export function unavailable(message: string, cause?: unknown): CloseSpider {
  return new CloseSpider(BROWSER_UNAVAILABLE, { message, cause })
}

/** The `finish_reason` of such a crawl. */
export const BROWSER_UNAVAILABLE = 'browser_unavailable'

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
