/** Where the runs of a spider's crawls are kept: on Redis, or each crawl's in a folder of its own. */

import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type CrawlName, crawlNameOf, crawlQueueName, type RunSeen } from '@webloom/core'
import {
  crawlRedisKeys,
  crawlShown,
  forgetCrawl,
  forgetFileRuns,
  isCrawlKnown,
  readCrawls,
  readFileRuns,
  readRuns,
  seenRun,
} from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import { crawlerFromOutside, crawlFromOutside, type OutsideFlags } from '../assembly/crawl-from-outside.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { shownPath } from '../loading/source-place.ts'
import { typedSpider } from '../loading/typed-spider.ts'
import { runsFolder } from '../outcome/runs-folder.ts'
import { visible } from '../terminal/sanitize.ts'

/** What is kept of the runs of one crawl. */
export interface KeptRuns {
  /** The latest first. */
  readonly runs: readonly RunSeen[]
  /** As messages call it. */
  readonly crawl: string
  /** Why there may be none. */
  readonly place: string
  forget(): Promise<void>
  /** Resolves to whether there is such a crawl, or was. */
  isKnown(): Promise<boolean>
}

/** The runs of all crawls of one spider. */
export interface RunsPlace {
  /** The crawl that the settings name. */
  readonly own: CrawlName
  /** The spider, as it is typed: its file, where it is in no project. */
  readonly typed: string
  /** Resolves to those that are kept besides, by their CRAWL_IDs; null: the crawl without one. */
  otherIds(): Promise<readonly (string | null)[]>
  runsOf(crawlId: string | null): Promise<KeptRuns>
}

/** Opens what has the runs of a spider for as long as `act` takes. */
export async function withRunsPlace(
  Class: SpiderClass,
  flags: OutsideFlags,
  config: LoadedConfig,
  act: (place: RunsPlace) => Promise<void>,
): Promise<void> {
  const crawler = await crawlerFromOutside(Class, flags, config)
  const { settings, spider, servers } = crawler
  const own = crawlNameOf(settings, spider.name)
  const typed = typedSpider(spider)
  // A crawl in a JOBDIR has nothing of its own on Redis.
  if (settings.get('JOBDIR') === null && servers.connection('queue')) {
    try {
      await servers.open()
      await act({ typed, ...onRedis(own, crawlFromOutside(crawler, config.folder).redis) })
    } finally {
      servers.close()
    }
    return
  }
  const project = config.isProject ? config.folder : undefined
  await act({
    typed,
    ...inFolders(own, (crawlId) =>
      runsFolder(settings, { spider: spider.name, crawlId }, { folder: config.folder, project }),
    ),
  })
}

function onRedis(own: CrawlName, redis: Parameters<typeof readRuns>[0]): Omit<RunsPlace, 'typed'> {
  return {
    own,
    async otherIds() {
      const known = await readCrawls(redis, own)
      return known
        .filter(({ spider, crawlId }) => spider === own.spider && crawlId !== own.crawlId)
        .map(({ crawlId }) => crawlId)
    },
    async runsOf(crawlId) {
      const keys = crawlRedisKeys({ ...own, crawlId })
      return {
        runs: (await readRuns(redis, keys, toldOf(crawlShown(keys)))).map(seenRun),
        crawl: crawlShown(keys),
        place: 'each crawl on Redis leaves one',
        forget: () => forgetCrawl(redis, keys),
        isKnown: () => isCrawlKnown(redis, keys),
      }
    },
  }
}

/** The runs that can be read are of use: standard output has them alone. */
function toldOf(crawl: string): (what: string) => void {
  return (what) => console.error(visible(`not every run of ${crawl} can be read: ${what}; it is left out`))
}

/** @param folderOf where the runs of a crawl are; undefined: none is kept */
function inFolders(
  own: CrawlName,
  folderOf: (crawlId: string | null) => string | undefined,
): Omit<RunsPlace, 'typed'> {
  return {
    own,
    async otherIds() {
      const folder = folderOf(own.crawlId)
      const names = folder === undefined ? [] : await readdir(dirname(folder)).catch(() => [])
      return names
        .map((name) => crawlIdIn(name, own.spider))
        .filter((crawlId) => crawlId !== undefined && crawlId !== own.crawlId) as (string | null)[]
    },
    async runsOf(crawlId) {
      const folder = folderOf(crawlId)
      return {
        runs: folder === undefined ? [] : await readFileRuns(folder),
        // Where none is kept, nobody knows.
        isKnown: async () => folder === undefined || existsSync(folder),
        crawl: crawlShown(crawlRedisKeys({ spider: own.spider, crawlId })),
        place:
          folder === undefined
            ? 'outside of a project none is kept. Set RUNS_DIR=<folder>, or REDIS_URL for a crawl on Redis'
            : `each crawl without Redis leaves one in ${shownPath(folder)}; those on Redis are seen with REDIS_URL`,
        forget: async () => {
          if (folder !== undefined) await forgetFileRuns(folder)
        },
      }
    },
  }
}

/** Undefined for the folder of another spider, and for what is no folder of runs. */
function crawlIdIn(folderName: string, spider: string): string | null | undefined {
  try {
    const behind = folderName.indexOf('@')
    const crawlId = behind < 0 ? null : decodeURIComponent(folderName.slice(behind + 1))
    return crawlQueueName({ spider, crawlId }) === `{${folderName}}` ? crawlId : undefined
  } catch {
    return undefined
  }
}
