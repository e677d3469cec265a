import type { Request, Response, SettingsInput } from 'webloom'
import { CrawlSpider, LinkExtractor, Rule } from 'webloom'
import { FilesPipeline } from 'webloom/ports'

interface Cover {
  title: string
  file_urls: string[]
}

/** Names the files after their books. Without this class, `files` names them by the SHA-1 of their URL, as Scrapy does. */
export class CoversPipeline extends FilesPipeline {
  override filePath(_request: Request, item: Cover): string {
    return `${item.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.png`
  }
}

/** Downloads the cover of each book. */
export default class CoversSpider extends CrawlSpider {
  override name = 'covers'
  override startUrls = ['http://127.0.0.1:8000/']
  override customSettings: SettingsInput = {
    ITEM_PIPELINES: [[CoversPipeline, 1]],
    FILES_STORE: 'covers',
  }
  override rules = [
    new Rule(new LinkExtractor({ allow: /\/p-\d+\.html$/, deny: '/sale/' }), { callback: this.parseBook }),
    new Rule(new LinkExtractor({ restrictCss: '.next' })),
  ]

  async *parseBook(response: Response) {
    const cover = response.css('img.cover::attr(src)').get('')
    // The pipeline fetches what file_urls names, and adds `files`: where each one is, and its checksum.
    yield { title: response.css('h1::text').get(''), file_urls: [response.urljoin(cover)] }
  }
}
