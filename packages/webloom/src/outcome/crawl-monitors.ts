/** Makes the monitors of a crawl, and the list of channels that tell people what they find: another channel is added here. */

import { type Crawler, type DownloadHandler, type RunLog, type Settings, SettingsError } from '@webloom/core'
import { CrawlMonitors, type Monitors, mailOf, type NotificationChannel, Webhook } from '@webloom/spider'
import { typedCrawl } from '../redis/typed-crawl.ts'
import { commandName } from '../terminal/resume-line.ts'

export interface CrawlMonitorsParts {
  readonly monitors: Monitors
  readonly runLog: RunLog
  readonly worker: string
  /** Of the project. */
  readonly folder: string
  /** Makes what connects to webhooks, through the crawl's address guard. */
  readonly connect: () => DownloadHandler
  /** Nobody begins a request now. */
  readonly isPaused: () => boolean
  /** Told which fields are watched. */
  readonly onFields: (fields: readonly string[]) => void
}

/** Throws before anything is fetched: for an address that is none, and where the package for mails is missing. */
export async function crawlMonitors(
  crawler: Crawler,
  { monitors, runLog, worker, folder, connect, isPaused, onFields }: CrawlMonitorsParts,
): Promise<CrawlMonitors> {
  const { settings, spider, stats, logger, times } = crawler
  const crawlId = settings.get('CRAWL_ID')
  return new CrawlMonitors({
    monitors,
    runLog,
    worker,
    spider: spider.name,
    crawlId,
    more: `${commandName()} runs ${typedCrawl(spider, settings)} --compare`,
    channels: await channelsOf(settings, folder, connect),
    stats,
    logger,
    timeoutMs: settings.getMs('COMPONENT_TIMEOUT'),
    isPaused,
    onFields,
    ...(times && { holdMs: 1.5 * times.members.lostAfterMs, firstPauseMs: times.members.lostAfterMs / 10 }),
  })
}

/** Returns true when monitors find something only beside the runs before. */
export function comparesRuns({ items, coverageDrop, custom }: Monitors = {}): boolean {
  return items?.drop !== undefined || coverageDrop !== undefined || custom !== undefined
}

/** The channels that settings name; the log is one besides. */
export async function channelsOf(
  settings: Settings,
  folder: string,
  connect: () => DownloadHandler,
): Promise<NotificationChannel[]> {
  const mail = await mailOf(settings, folder)
  return [...webhooksOf(settings, connect), ...(mail ? [mail] : [])]
}

function webhooksOf(settings: Settings, connect: () => DownloadHandler): NotificationChannel[] {
  const secret = settings.get('MONITOR_WEBHOOK_SECRET') ?? undefined
  const urls = webhookUrls(settings)
  if (urls.length === 0) return []
  const handler = connect()
  let open = urls.length
  return urls.map((url) => {
    const webhook = new Webhook({ url, handler, secret })
    webhook.close = async () => {
      open -= 1
      if (open === 0) await handler.close?.()
    }
    return webhook
  })
}

function webhookUrls(settings: Settings): string[] {
  const urls = settings.getList('MONITOR_WEBHOOKS').map(String)
  // A URL's parser would take a space for a part of the path. What is written is not shown: it may be a key.
  const bad = urls.flatMap((url, n) => {
    if (/\s/.test(url)) return [`MONITOR_WEBHOOKS[${n}] has a space in it; write commas between addresses`]
    if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return []
    return [`MONITOR_WEBHOOKS[${n}] is no address that a POST can be sent to; expected https://…`]
  })
  if (bad.length > 0) throw new SettingsError(bad)
  return urls
}
