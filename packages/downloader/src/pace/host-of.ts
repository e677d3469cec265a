import type { Crawler, DownloadOptions, Request } from '@webloom/core'

/** What is known of the host of a request that is being fetched, and whom to tell what it taught. */
export type HostOf = (request: Request) => Pick<DownloadOptions, 'host' | 'onHostNews'> | undefined

/** As the crawl's downloader knows it. */
export function hostOfCrawler({ downloader }: Crawler): HostOf {
  return (request) => downloader?.optionsOf(request)
}
