import { LinkExtractor, RedisCrawlSpider, type Response, Rule } from 'webloom'

/** Takes start URLs from the Redis list mycrawler:start_urls, and follows all their links. */
export default class MyCrawler extends RedisCrawlSpider {
  override name = 'mycrawler_redis'
  override redisKey = 'mycrawler:start_urls'
  /** Hosts to stay on: `-a allowedDomains=one.example,two.example`. */
  override allowedDomains: string[] = []

  override rules = [new Rule(new LinkExtractor(), { callback: this.parsePage, follow: true })]

  async *parsePage(response: Response) {
    yield { name: response.css('title::text').get(), url: response.url }
  }
}
