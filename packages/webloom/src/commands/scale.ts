/** `webloom scale`: how many workers would help now, for whoever starts and stops them. */

import type { ScaleSeen } from '@webloom/core'
import { whileRecordAnswers } from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import { type OutsideFlags, withCrawlFromOutside } from '../assembly/crawl-from-outside.ts'
import { readStatus } from '../desk/read-status.ts'
import { readScale } from '../desk/scale/read-scale.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { counted, row } from '../terminal/figures.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'

export async function scale(Class: SpiderClass, flags: OutsideFlags, config: LoadedConfig): Promise<void> {
  const seen = await withCrawlFromOutside(Class, flags, config, (crawl) =>
    whileRecordAnswers(crawl, async () => readScale(crawl, await readStatus(crawl))),
  )
  if (flags.json) console.log(visibleJson(JSON.stringify(seen)))
  else for (const line of scaleLines(seen)) console.log(visible(line))
}

export function scaleLines({ desired, present, words }: ScaleSeen): string[] {
  return [
    row(
      'workers',
      `${counted(desired, 'worker')} would help now; ${present} ${present === 1 ? 'is' : 'are'} present`,
    ),
    row('why', words),
  ]
}
