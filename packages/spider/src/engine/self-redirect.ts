import type { Logger, Request, StatsCollector } from '@webloom/core'

/**
 * Tells of a page that redirects to itself. As in Scrapy nothing comes of it: its URL has been seen, so the filter drops the target. Browsers
 * ask on, up to twenty times, for the sake of sites that set a cookie first; with `dontFilter` so does a crawl. The log says it once, as a
 * site may do so with each of its pages.
 */
export function tellOfSelfRedirect(
  request: Request,
  target: Request,
  { stats, logger }: { readonly stats: StatsCollector; readonly logger: Logger },
): void {
  if (target.dontFilter || target.method !== request.method || bare(target) !== bare(request)) return
  const isFirst = stats.get('redirect/to_itself') === undefined
  stats.inc('redirect/to_itself')
  const text = 'the page redirects to itself, so nothing comes of it; dontFilter would follow it'
  if (isFirst) logger.info({ url: request.url }, `${text}. Further ones are counted in redirect/to_itself`)
  else logger.debug({ url: request.url }, text)
}

/** The fragment goes to no server. */
function bare({ url }: Request): string {
  return url.replace(/#.*/s, '')
}
