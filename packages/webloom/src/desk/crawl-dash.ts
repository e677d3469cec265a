/** `webloom crawl --dash`: a dashboard in the process that crawls. */

import { type CrawlDesks, redisTargets } from '@webloom/core'
import type { Crawl } from '../assembly/crawl.ts'
import type { LoadedConfig } from '../loading/config.ts'
import type { CrawlFlags } from '../loading/crawl-flags.ts'
import { deskServers } from '../redis/desk-servers.ts'
import { dashboardPackage, dashToken } from './dashboard-package.ts'
import { ProcessCrawlDesk } from './process/process-crawl-desk.ts'
import { RegistryDesks } from './registry-desks.ts'

export interface CrawlDash {
  close(): Promise<void>
}

/** A crawl on Redis is seen as `webloom dash` sees it, with its other workers. */
export async function startCrawlDash(
  crawl: Crawl,
  flags: CrawlFlags,
  config: LoadedConfig | undefined,
  { control }: { readonly control: boolean },
): Promise<CrawlDash> {
  const { startDashboard } = await dashboardPackage('--dash')
  const isOnRedis = redisTargets(crawl.settings, 'queue').length > 0
  const desks: CrawlDesks = isOnRedis
    ? new RegistryDesks(deskServers(flags, config), [crawl.spider.name])
    : new ProcessCrawlDesk(crawl)
  const token = dashToken()
  const options = { desks, control, ...(token !== undefined && { token }) }
  // The port may be that of another crawl's dashboard.
  const dashboard = await startDashboard(options).catch(() => startDashboard({ ...options, port: 0 }))
  crawl.logger.info(`the dashboard is at ${dashboard.url}`)
  return {
    async close() {
      await dashboard.close()
      await desks.close()
    },
  }
}
