import { CrawlSpider, LinkExtractor, type Response, Rule } from 'webloom'

/** Follows the categories of a directory of links, and takes their entries. */
export default class DmozSpider extends CrawlSpider {
  override name = 'dmoz'
  override allowedDomains = ['dmoztools.net']
  override startUrls = ['http://www.dmoztools.net/']

  override rules = [
    new Rule(new LinkExtractor({ restrictCss: ['.top-cat', '.sub-cat', '.cat-item'] }), {
      callback: this.parseDirectory,
      follow: true,
    }),
  ]

  async *parseDirectory(response: Response) {
    for (const div of response.css('.title-and-desc')) {
      yield {
        name: div.css('.site-title::text').get(),
        description: div.css('.site-descr::text').get('').trim(),
        link: div.css('a::attr(href)').get(),
      }
    }
  }
}
