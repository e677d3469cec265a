/** A crawl of the fake web in this process, and what it logs. */

import { type FakeWeb, type FakeWebOptions, startFakeWeb } from '@webloom/testkit'
import { expect } from 'vitest'
import { type CrawlResult, crawl, type Response, type SettingsInput, Spider } from 'webloom'
import type { Logger } from 'webloom/ports'
import { type LogLine, listeningTo } from './listening.ts'

/** Collects log lines instead of writing them. */
export function listeningLogger(): {
  logger: Logger
  lines: LogLine[]
} {
  const lines: LogLine[] = []
  return { logger: listeningTo((line) => void lines.push(line)), lines }
}

export class FollowAll extends Spider {
  override name = 'follow-all'

  override *parse(response: Response): Generator<unknown> {
    yield { url: response.url, title: response.css('title::text').get() }
    yield* response.followAll()
  }
}

export async function crawlWeb(
  options: FakeWebOptions,
  settings: SettingsInput = {},
  judge: (web: FakeWeb, result: CrawlResult) => Promise<void> | void = () => {},
): Promise<void> {
  await using web = await startFakeWeb(options)
  class OfThisWeb extends FollowAll {
    override startUrls = [...web.seeds]
  }
  const { logger } = listeningLogger()
  const result = await crawl(OfThisWeb, {
    settings: { RANDOMIZE_DOWNLOAD_DELAY: false, ...settings },
    logger,
  })
  await judge(web, result)
}

export const fetchedOnce = (web: FakeWeb) => {
  for (const url of web.reachable()) expect(web.countOf(url), url).toBe(1)
}
