import { type Logger, silentLogger } from '@webloom/core'
import type { UntoldRun } from '@webloom/queue'
import { type SpiderClass, sendToEach } from '@webloom/spider'
import { crawlerFromOutside, type OutsideFlags } from '../assembly/crawl-from-outside.ts'
import { besidesPages } from '../assembly/fetching.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { typedByName } from '../loading/typed-spider.ts'
import { channelsOf } from '../outcome/crawl-monitors.ts'
import { commandName } from '../terminal/resume-line.ts'
import { shownError } from './shown-error.ts'

/** As of an alert of a monitor; but the line that makes a schedule again is whole. */
const WORDS_CHARS_MAX = 500
/** As many as at the end of a run; then whoever reads the log is told, and what follows is slow. */
const TRIES_LOUD = 6
/** What is kept for a message that was sent nowhere, as no channel could be made. */
const ALL = 'all channels'

/** The crawl whose runs fail, with the settings that it has without its schedule's: those may be what is wrong. */
export interface FailingCrawl {
  readonly Class: SpiderClass
  readonly flags: OutsideFlags
  readonly config: LoadedConfig
  readonly logger: Logger
}

/**
 * Tells people, on the ways on which they hear of monitors, that a scheduled run cannot be, or a schedule is gone: no worker is there whose monitors would. Tries
 * each channel once. Resolves to those on which it is still to be sent, and why. Never rejects.
 */
export async function tellFailed(
  { Class, flags, config, logger }: FailingCrawl,
  untold: UntoldRun,
): Promise<Readonly<Record<string, string>>> {
  const { id, crawlId, schedule, why, isGone, at, tries, left } = untold
  try {
    const crawler = await crawlerFromOutside(Class, flags, config, () => silentLogger)
    const { settings, spider } = crawler
    const words = isGone
      ? why
      : `a run that the schedule ${schedule} began, or was to begin, cannot be: ${why}`.slice(
          0,
          WORDS_CHARS_MAX,
        )
    const to = left && !(ALL in left) ? Object.keys(left) : undefined
    const answers = await sendToEach(
      {
        ...{ id, spider: spider.name, ...(crawlId !== null && { crawlId }), run: 'none' },
        alerts: [{ id: isGone ? 'schedule_gone' : 'schedule', words, at: new Date(at).toISOString() }],
        ...{ pages: 0, items: 0, finishReason: 'refused', more: `${commandName()} schedule list` },
      },
      await channelsOf(settings, config.folder, () => besidesPages(crawler)),
      undefined,
      to,
    )
    const failed = answers.filter(({ isAccepted }) => !isAccepted)
    for (const { channel, isRefused, answer: reason } of failed) {
      const nobody = `nobody is told there that ${isGone ? `the schedule ${schedule} is gone` : `${typedByName(spider, crawlId)} failed`}`
      if (isRefused) logger.error({ channel, reason }, nobody)
      else if (tries === TRIES_LOUD) logger.error({ channel, reason }, `${nobody}; it is tried on`)
      else if (tries < TRIES_LOUD) logger.warn({ channel, reason }, `${nobody}; another try follows`)
    }
    // Of a machine with other settings, which may come back.
    const missing = (to ?? []).filter((name) => !answers.some(({ channel }) => channel === name))
    return Object.fromEntries([
      ...failed.flatMap(({ channel, isRefused, answer }) => (isRefused ? [] : [[channel, answer]])),
      ...missing.map((channel) => [channel, left![channel]]),
    ])
  } catch (error) {
    const err = shownError(error)
    if (tries === 1) logger.error({ err }, 'nobody could be told of a scheduled run that failed')
    return left ?? { [ALL]: err.message }
  }
}
