/** The crawl of a row: its folder, its settings and the command that runs it, by the code of one checkout. */

import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RedisServer, type TempDir, tempDir } from '@webloom/testkit'
import type { WebAddress } from './hosts.ts'
import type { SpiderTask } from './pages-spider.ts'
import type { Row } from './rows.ts'

const CONCURRENCY = 64
/** A host that answers nothing is given up after this, three times. */
const SILENT_TIMEOUT_SECONDS = 20
/** The same for a name: at the default of a minute, one name of a hundred would be most of the crawl. */
const NAME_TIMEOUT_SECONDS = 5
/** Links that are no page's do not exist, so that every request is asked of the filter once or more; this leaves room. */
const BLOOM_CAPACITY_MIN = 1_000_000
const COPIED = ['hosts.ts', 'pages-spider.ts', 'by-crawl.ts']

/** Servers and workers each have one core when a row is pinned. */
export const [WORKERS_CORE, SERVERS_CORE] = ['0', '1']

export type Settings = Readonly<Record<string, unknown>>

/** A folder where `webloom` is the checkout's, with the spider and its task. */
export async function crawlFolder(row: Row, checkout: string, web: WebAddress): Promise<TempDir> {
  const folder = await tempDir('webloom-broad-')
  await mkdir(folder.join('node_modules'))
  await symlink(join(checkout, 'packages/webloom'), folder.join('node_modules/webloom'))
  for (const name of COPIED) await copyFile(join(import.meta.dirname, name), folder.join(name))
  const { hosts, pagesPerHost, delaySeconds, fromStart = false, hotPages = 0, workers } = row
  const task: SpiderTask = {
    web,
    follow: delaySeconds === undefined && !fromStart,
    hosts,
    pagesPerHost,
    hotPages,
    leaves: delaySeconds !== undefined,
    halfAt: Math.round((hosts * pagesPerHost) / 2 / workers),
  }
  await writeFile(folder.join('task.json'), JSON.stringify(task))
  return folder
}

export interface Servers {
  readonly queueRedis: RedisServer
  readonly filterRedis: RedisServer
  /** `127.0.0.1:port` of the name server, for hosts that have names. */
  readonly nameServer?: string | undefined
}

/** All settings of a row's crawl; some may not be known to an older checkout. */
export function settingsOf(row: Row, { queueRedis, filterRedis, nameServer }: Servers): Settings {
  const { filter, delaySeconds, hotPages, robots = false, hosts, pagesPerHost } = row
  return {
    CONCURRENT_REQUESTS: CONCURRENCY,
    CONCURRENT_REQUESTS_PER_DOMAIN: CONCURRENCY,
    ROBOTSTXT_OBEY: robots,
    PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8'],
    LOG_LEVEL: row.isNamed ? 'CRITICAL' : 'ERROR', // Each silent name would be an error in the log.
    LOGSTATS_INTERVAL: 0,
    STATS_DUMP: false,
    ...(filter && {
      DUPEFILTER_CLASS: filter,
      QUEUE_REDIS_URL: queueRedis.url,
      DUPEFILTER_REDIS_URL: filterRedis.url,
      BLOOMFILTER_CAPACITY: Math.max(BLOOM_CAPACITY_MIN, hosts * pagesPerHost),
    }),
    ...(delaySeconds !== undefined && { DOWNLOAD_DELAY: delaySeconds, RANDOMIZE_DOWNLOAD_DELAY: false }),
    ...(hotPages !== undefined && { DOWNLOAD_TIMEOUT: SILENT_TIMEOUT_SECONDS }),
    ...(nameServer !== undefined && { DNS_SERVERS: [nameServer], DNS_TIMEOUT: NAME_TIMEOUT_SECONDS }),
  }
}

export function commandOf({ by, pinned }: Row, checkout: string, settings: Settings): string[] {
  const command =
    by === 'cli'
      ? [...cli(checkout), 'runspider', 'pages-spider.ts', ...flagsOf(settings)]
      : [process.execPath, 'by-crawl.ts']
  return pinned ? ['taskset', '--cpu-list', WORKERS_CORE!, ...command] : command
}

export function cli(checkout: string): string[] {
  return [process.execPath, join(checkout, 'packages/webloom/bin/webloom.js')]
}

export function flagsOf(settings: Settings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-s', `${name}=${String(value)}`])
}
