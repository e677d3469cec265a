import { FRAMEWORK_CLASS } from '../spider.ts'
import { CrawlSpider } from './crawl-spider.ts'
import { type RedisSeeds, RedisSpider, type SeedOutput } from './redis-spider.ts'

/** A `CrawlSpider` whose start URLs come from Redis, as those of a `RedisSpider`. Each of them is a start page. */
export class RedisCrawlSpider extends CrawlSpider implements RedisSeeds {
  static override readonly [FRAMEWORK_CLASS]: true = true
  redisKey?: string
  redisBatchSize?: number
  maxIdleTime?: number

  makeRequestFromData(data: string): SeedOutput {
    return RedisSpider.prototype.makeRequestFromData.call(this, data)
  }
}
