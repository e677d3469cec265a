/** What each system of browser-bench.ts is told, as JSON in the file that its command line names. Each prints how many items it has found. */

import { readFileSync } from 'node:fs'

export interface BrowserTask {
  readonly origin: string
  /** Pages that are rendered, and pages that come over HTTP. */
  readonly drawn: number
  readonly plain: number
  /** Pages that are open at once. */
  readonly open: number
  /** The same Chromium for all. */
  readonly executable: string
  /** True: images and fonts are not loaded. */
  readonly blocks: boolean
  /** True: a context for each page, so that none shares cookies and cache with another. */
  readonly apart: boolean
}

export function taskGiven(): BrowserTask {
  return JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as BrowserTask
}

export function urlsOf({ origin }: BrowserTask, kind: string, pages: number): string[] {
  return Array.from({ length: pages }, (_, n) => `${origin}/${kind}/${n}`)
}
