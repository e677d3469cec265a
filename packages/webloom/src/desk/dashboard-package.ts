/** The package of the dashboard, which is imported when it is asked for. */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type CrawlDesks, type StatValue, UsageError } from '@webloom/core'

/** What commands use of it. */
export interface DashboardPackage {
  startDashboard(options: {
    readonly desks: CrawlDesks
    readonly host?: string
    readonly port?: number
  }): Promise<{ readonly url: string; close(): Promise<void> }>
  startMetrics(options: {
    readonly crawl: string
    readonly stats: () => Readonly<Record<string, StatValue>>
    readonly activity: () => { readonly downloading: number; readonly scraping: number }
    readonly host: string
    readonly port: number
  }): Promise<{ readonly url: string; close(): Promise<void> }>
}

const PACKAGE = '@webloom/dashboard'

/**
 * It is no dependency of webloom: found beside it, or in the project of this folder.
 *
 * @param asker what needs it, for the error
 */
export async function dashboardPackage(asker = 'webloom dash'): Promise<DashboardPackage> {
  const inProject = createRequire(join(process.cwd(), 'package.json'))
  const places = [() => PACKAGE, () => pathToFileURL(inProject.resolve(PACKAGE)).href]
  for (const place of places) {
    try {
      return (await import(place())) as DashboardPackage
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
  throw new UsageError(
    'WL_USAGE',
    `${asker} needs the package ${PACKAGE}, which is not installed. Install it:  npm install ${PACKAGE}`,
  )
}

/** The package itself, and not one that it needs. */
function isMissing(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return /^(?:ERR_)?MODULE_NOT_FOUND$/.test(code ?? '') && message.includes(PACKAGE)
}
