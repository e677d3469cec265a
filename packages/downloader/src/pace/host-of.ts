import type { Crawler, DownloadOptions, Request } from '@webloom/core'

/** Returns what is known of the host of a request that is being fetched, and takes news of that host. */
export type HostOf = (request: Request) => Pick<DownloadOptions, 'host' | 'onHostNews'> | undefined

/** Returns the `HostOf` of the crawl's downloader. */
export function hostOfCrawler({ downloader }: Crawler): HostOf {
  return (request) => downloader?.optionsOf(request)
}
