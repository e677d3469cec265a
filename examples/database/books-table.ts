import { CrawlSpider, LinkExtractor, type Response, Rule, type SettingsInput } from 'webloom'

/** Writes books into a table: SQLite, or PostgreSQL with `-s SQL_URL=postgres://…`. */
export default class BooksTableSpider extends CrawlSpider {
  override name = 'books-table'
  override startUrls = ['http://127.0.0.1:8000/']
  override customSettings: SettingsInput = {
    ITEM_PIPELINES: [['sql', 300]],
    SQL_URL: 'sqlite:books.db',
    SQL_TABLE: 'books',
    // Columns with their types, in the words of the database. Fields without a column are left out.
    SQL_COLUMNS: { title: 'TEXT NOT NULL', author: 'TEXT', price: 'NUMERIC', stock: 'INTEGER' },
    // The shop's own number is the row's key: the same book, crawled again tomorrow, replaces its row.
    ITEM_ID_FIELD: 'number',
    SQL_ID_COLUMN: 'number',
  }
  override rules = [
    new Rule(new LinkExtractor({ allow: /\/p-\d+\.html$/, deny: '/sale/' }), { callback: this.parseBook }),
    new Rule(new LinkExtractor({ restrictCss: '.next' })),
  ]

  async *parseBook(response: Response) {
    yield {
      number: response.url.match(/p-(\d+)/)![1],
      title: response.css('h1::text').get(),
      author: response.css('.author::text').get(),
      price: Number(response.css('.price::text').reFirst(/[\d.]+/)),
      stock: Number(response.css('.stock::text').reFirst(/\d+/)),
    }
  }
}
