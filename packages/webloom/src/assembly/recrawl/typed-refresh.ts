import type { Crawler } from '@webloom/core'
import { typedCrawl } from '../../redis/typed-crawl.ts'
import { commandName, shellQuoted } from '../../terminal/resume-line.ts'

/** The line that makes pages of this crawl due now; what names them comes behind it. */
export function typedRefresh({ settings, spider }: Pick<Crawler, 'settings' | 'spider'>): string {
  const folder = settings.get('JOBDIR')
  const place = folder === null ? '' : ` -s JOBDIR=${shellQuoted(folder)}`
  return `${commandName()} refresh ${typedCrawl(spider, settings)}${place}`
}
