import { RedisSpider, type Response } from 'webloom'

/** Takes start URLs from the Redis list myspider:start_urls, and nothing beyond them. */
export default class MySpider extends RedisSpider {
  override name = 'myspider_redis'
  override redisKey = 'myspider:start_urls'

  override *parse(response: Response) {
    yield { name: response.css('title::text').get(), url: response.url }
  }
}
