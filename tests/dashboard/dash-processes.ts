/** What tests of `webloom dash` share. */

import { expect, vi } from 'vitest'
import type { ClusterFolder } from '../cluster/cluster-crawl.ts'

export const VIEWS = ['hosts', 'failures', 'skips', 'dedup', 'items', 'workers', 'redis', 'settings', 'runs']
export const WITHIN = { interval: 100 }

/** Starts it in the folder; resolves to where it is. */
export async function dashStarted(folder: ClusterFolder, ...words: string[]): Promise<string> {
  const dash = folder.begin('dash', '--port', '0', ...words)
  await vi.waitFor(() => expect(dash.stdout, dash.stderr).toMatch(/http:\S+/), WITHIN)
  return /http:\S+/.exec(dash.stdout)![0]
}

/** The page as people read it. */
export async function pageText(address: string): Promise<string> {
  const html = await (await fetch(address)).text()
  return html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
}

/** Lets Node find no dashboard, wherever it is. */
export const WITHOUT_DASHBOARD = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({
    resolve(name, context, next) {
      if (!name.includes('@webloom/dashboard')) return next(name, context)
      throw Object.assign(new Error('Cannot find package @webloom/dashboard'), { code: 'ERR_MODULE_NOT_FOUND' })
    },
  })
`)}`
