/** `webloom monitors test`: do people hear of what the monitors of a crawl find? */

import { UsageError } from '@webloom/core'
import { readMonitors, sendTestMessage } from '@webloom/spider'
import { crawlerFromOutside, type OutsideFlags } from '../assembly/crawl-from-outside.ts'
import { besidesPages } from '../assembly/fetching.ts'
import { EXIT } from '../exit-codes.ts'
import type { NamedSpider } from '../loading/named-spider.ts'
import { channelsOf } from '../outcome/crawl-monitors.ts'
import { typedCrawl } from '../redis/typed-crawl.ts'
import { commandName } from '../terminal/resume-line.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'

/** Sends one message on each channel that the crawl has. Resolves to the exit code: 0 when each has taken it. */
export async function testMonitors({ Class, config }: NamedSpider, flags: OutsideFlags): Promise<number> {
  const crawler = await crawlerFromOutside(Class, flags, config)
  const { settings, spider, stats, logger } = crawler
  const monitors = readMonitors(spider, settings)
  const channels = await channelsOf(settings, config.folder, () => besidesPages(crawler))
  if (channels.length === 0)
    throw new UsageError(
      'WL_USAGE',
      `nobody is told of what the monitors of ${spider.name} find, but by the log and by exit code ${EXIT.alerts}. Set MONITOR_WEBHOOKS=https://…, or MONITOR_MAIL_TO=ops@example.com with MAIL_HOST, and type this again`,
    )
  const crawlId = settings.get('CRAWL_ID')
  const more = `${commandName()} runs ${typedCrawl(spider, settings)}`
  const answers = await sendTestMessage({ spider: spider.name, crawlId, more, channels, stats, logger })
  if (flags.json) console.log(visibleJson(JSON.stringify(answers)))
  else {
    for (const { channel, isAccepted, answer } of answers)
      console.log(visible(`${isAccepted ? 'taken' : 'NOT TAKEN'}   ${channel}: ${answer}`))
    if (!monitors)
      console.log(
        visible(
          `${spider.name} has no monitors yet, so nothing will be told. Write some:  static override monitors: Monitors = { items: { min: 100 } }`,
        ),
      )
  }
  return answers.every(({ isAccepted }) => isAccepted) ? EXIT.finished : EXIT.unexpected
}
