import { randomUUID } from 'node:crypto'
import { type Logger, silentLogger } from '@webloom/core'
import { type SpiderClass, sendToEach } from '@webloom/spider'
import { crawlerFromOutside, type OutsideFlags } from '../assembly/crawl-from-outside.ts'
import { besidesPages } from '../assembly/fetching.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { typedCrawl } from '../loading/typed-spider.ts'
import { channelsOf } from '../outcome/crawl-monitors.ts'
import { commandName } from '../terminal/resume-line.ts'
import { shownError } from './shown-error.ts'

/** As of an alert of a monitor. */
const WORDS_CHARS_MAX = 500

/** The crawl whose runs fail, with the settings that it has without its schedule's: those may be what is wrong. */
export interface FailingCrawl {
  readonly Class: SpiderClass
  readonly flags: OutsideFlags
  readonly config: LoadedConfig
  readonly logger: Logger
  /** CRAWL_ID, as its schedule has it. */
  readonly crawlId: string | null
  /** The schedule's name, where it is known. */
  readonly schedule?: string
}

/**
 * Tells people, on the ways on which they hear of monitors, that a scheduled run cannot be: no worker is there whose monitors would. Never
 * rejects; what it cannot send is in the log.
 *
 * @param why without secrets
 */
export async function tellFailed(failing: FailingCrawl, why: string): Promise<void> {
  const { Class, flags, config, logger, crawlId, schedule } = failing
  try {
    const crawler = await crawlerFromOutside(Class, flags, config, () => silentLogger)
    const { settings, spider } = crawler
    const words =
      `a run that ${schedule === undefined ? 'its schedule' : `the schedule ${schedule}`} began, or was to begin, cannot be: ${why}`.slice(
        0,
        WORDS_CHARS_MAX,
      )
    const answers = await sendToEach(
      {
        ...{ id: randomUUID(), spider: spider.name, ...(crawlId !== null && { crawlId }), run: 'none' },
        alerts: [{ id: 'schedule', words, at: new Date().toISOString() }],
        ...{ pages: 0, items: 0, finishReason: 'refused', more: `${commandName()} schedule list` },
      },
      await channelsOf(settings, config.folder, () => besidesPages(crawler)),
    )
    for (const { channel, isAccepted, answer } of answers)
      if (!isAccepted)
        logger.error(
          { channel, reason: answer },
          `nobody is told there that ${typedCrawl(spider, crawlId)} failed`,
        )
  } catch (err) {
    logger.error({ err: shownError(err) }, 'nobody could be told of a scheduled run that failed')
  }
}
