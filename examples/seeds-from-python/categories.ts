import { RedisSpider, type Response, type SettingsInput } from 'webloom'

/** Counts the books of each category that somebody, in any language, has put into the Redis list `categories:start_urls`. */
export default class CategoriesSpider extends RedisSpider {
  override name = 'categories'
  /** Seconds without work after which the worker ends. Leave it out, and it waits for the next seeds for ever. */
  override maxIdleTime = 5
  override customSettings: SettingsInput = {
    // Start URLs from Redis may be anybody's, so they may not lead into this machine unless you say so.
    PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8'],
  }

  override *parse(response: Response, { label }: { label?: string } = {}) {
    const category = response.css('h1::text').get()
    yield { url: response.url, label: label ?? category, books: response.css('.book').length }
  }
}
