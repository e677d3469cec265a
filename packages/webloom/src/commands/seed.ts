/** `webloom seed`: puts start URLs where a RedisSpider takes them from. */

import {
  crawlNameOf,
  type RedisTarget,
  redisTargets,
  type Settings,
  SettingsError,
  UsageError,
} from '@webloom/core'
import { RedisSeedPush, type SeedType, seedTypeOf } from '@webloom/queue'
import { isRedisSpider, type SpiderClass, seedOptionsOf } from '@webloom/spider'
import { crawlBase, crawlBaseOf } from '../assembly/crawl-base.ts'
import { EXIT } from '../exit-codes.ts'
import type { LoadedConfig } from '../loading/config.ts'
import type { CrawlFlags } from '../loading/crawl-flags.ts'
import { endUnanswered } from '../redis/cluster-look.ts'
import { RedisLink } from '../redis/redis-connection.ts'
import { seedInput } from '../seeds/seed-input.ts'
import { Seeding } from '../seeds/seeding.ts'
import { counted, grouped } from '../terminal/figures.ts'
import { visible } from '../terminal/sanitize.ts'
import { processScreen } from '../terminal/screen.ts'

export interface SeedFlags extends Pick<CrawlFlags, 'set' | 'argument'> {
  readonly file?: string
  readonly front?: boolean
  readonly score?: string
  readonly json?: boolean
}

/** Checks each message and pushes the good ones. Returns the exit code: 1 when there was a bad one, 2 when there was no other. */
export async function seed(
  Class: SpiderClass,
  messages: readonly string[],
  flags: SeedFlags,
  config: LoadedConfig | undefined,
): Promise<number> {
  const input = seedInput(messages, flags.file)
  const { spider, settings, logger } = await crawlBase(Class, crawlBaseOf(flags, config))
  if (!isRedisSpider(spider))
    throw new UsageError(
      'WL_USAGE',
      `spider ${spider.name} takes no seeds: it is not a RedisSpider. Write  class ${Class.name} extends RedisSpider`,
    )
  const { key } = seedOptionsOf(spider, settings)
  const target = seedsTarget(settings)
  const link = new RedisLink(target, {
    roles: ['seeds'],
    whose: crawlNameOf(settings, spider.name),
    startTimeoutMs: settings.getMs('REDIS_START_TIMEOUT'),
    logger,
    isOutside: true,
    // Not let in any more, it does not wait for that.
    onHopeless: () => () => {},
  })
  endUnanswered(link.client, target)
  await link.open()
  try {
    const found = await seedTypeOf(link.client, key)
    const type = found ?? wantedType(settings)
    checkOrder(flags, type, key)
    const push = new RedisSeedPush({ redis: link.client, key, type, front: flags.front ?? false })
    const seeding = new Seeding({ spider, settings, score: flags.score, push, redis: target.shown })
    try {
      await seeding.run(input)
    } finally {
      seeding.progress.stop()
    }
    report({ spider: spider.name, key, type, redis: target.shown }, seeding, flags)
    if (seeding.bad === 0) return EXIT.finished
    // Running the same line again would push the good ones a second time.
    return seeding.pushed > 0 ? EXIT.unexpected : EXIT.usage
  } finally {
    link.close()
  }
}

function seedsTarget(settings: Settings): RedisTarget {
  const [target] = redisTargets(settings, 'seeds')
  if (target) return target
  throw new SettingsError(['no Redis is named: set REDIS_URL=redis://host:6379, or SEEDS_REDIS_URL'])
}

function wantedType(settings: Settings): SeedType {
  if (settings.getBool('REDIS_START_URLS_AS_SET')) return 'set'
  return settings.getBool('REDIS_START_URLS_AS_ZSET') ? 'zset' : 'list'
}

function checkOrder({ front, score }: SeedFlags, type: SeedType, key: string): void {
  if (front && type !== 'list')
    throw new UsageError('WL_USAGE', `--front is for a list; ${key} is a ${NAMES[type]}, which has no front`)
  if (score !== undefined && type !== 'zset')
    throw new UsageError(
      'WL_USAGE',
      `--score is for a sorted set (REDIS_START_URLS_AS_ZSET=true); ${key} is a ${NAMES[type]}`,
    )
}

const NAMES: Readonly<Record<SeedType, string>> = { list: 'list', set: 'set', zset: 'sorted set' }

interface SeededKey {
  readonly spider: string
  readonly key: string
  readonly type: SeedType
  readonly redis: string
}

function report(
  where: SeededKey,
  { pushed, added, bad, problems, waiting }: Seeding,
  { json }: SeedFlags,
): void {
  const untold = bad - problems.length
  if (untold > 0) processScreen().write(`and ${counted(untold, 'more bad one', 'more bad ones')}\n`)
  if (json) {
    console.log(JSON.stringify({ ...where, pushed, added, waiting, bad, problems }))
    return
  }
  const known = pushed - added
  const seeds = counted(pushed, 'seed')
  console.log(
    `pushed ${seeds} to ${visible(where.key)} (${NAMES[where.type]})${known > 0 ? `, ${grouped(known)} of which were there` : ''}${waiting === undefined ? '' : `; ${grouped(waiting)} wait there now`}${bad > 0 ? `; ${counted(bad, 'bad one was', 'bad ones were')} left out${pushed > 0 ? ': fix them, and push only these' : ''}` : ''}`,
  )
}
