/** What `webloom genspider` writes. */

/** A spider's name, and the site it is for: a host or a URL. */
export interface Site {
  readonly name: string
  readonly site: string
}

const BODY = `    yield { url: response.url, title: response.css('title::text').get() }`

const template =
  (base: string, fields: (site: Site) => string, methods: string) =>
  (given: Site): string =>
    `import { ${base}, type SettingsInput } from 'webloom'

export default class ${className(given.name)} extends ${base.split(',')[0]} {
  name = '${given.name}'
  customSettings: SettingsInput = {} // e.g. DOWNLOAD_DELAY: 1; the editor shows what there is
${fields(given)}
${methods}
}
`

export const SPIDER_TEMPLATES: Readonly<Record<string, (site: Site) => string>> = {
  basic: template(
    'Spider, type Response',
    (site) => `${domains(site)}\n  startUrls = ['${siteUrl(site)}']\n`,
    `  async *parse(response: Response) {
${BODY}
  }`,
  ),
  crawl: template(
    'CrawlSpider, LinkExtractor, type Response, Rule',
    (site) =>
      `${domains(site)}\n  startUrls = ['${siteUrl(site)}']\n  rules = [new Rule(new LinkExtractor({ allow: '/items/' }), { callback: 'parseItem', follow: true })]\n`,
    `  async *parseItem(response: Response) {
${BODY}
  }`,
  ),
  redis: template(
    'RedisSpider, type Response',
    (site) => `${domains(site)}\n  // redisKey = '${site.name}:start_urls'\n`,
    `  async *parse(response: Response) {
${BODY}
    yield* response.followAll()
  }`,
  ),
  sitemap: template(
    'SitemapSpider, type Response',
    (site) => `  sitemapUrls = ['${new URL('/robots.txt', siteUrl(site)).href}']\n`,
    `  async *parse(response: Response) {
${BODY}
  }`,
  ),
  xmlfeed: template(
    'XMLFeedSpider, type Response, type Selector',
    (site) =>
      `${domains(site)}\n  startUrls = ['${new URL('/feed.xml', siteUrl(site)).href}']\n  itertag = 'item'\n`,
    `  async *parseNode(_response: Response, node: Selector) {
    yield { title: node.xpath('title/text()').get() }
  }`,
  ),
  csvfeed: template(
    'CSVFeedSpider, type Response',
    (site) => `${domains(site)}\n  startUrls = ['${new URL('/feed.csv', siteUrl(site)).href}']\n`,
    `  async *parseRow(_response: Response, row: Record<string, string>) {
    yield row
  }`,
  ),
}

export function siteUrl({ site }: Site): string {
  return /^https?:\/\//.test(site) ? site : `https://${site}`
}

function domains(site: Site): string {
  return `  allowedDomains = ['${new URL(siteUrl(site)).hostname}']`
}

/** `my-quotes` becomes `MyQuotesSpider`. */
function className(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const joined = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
  return `${/^\d/.test(joined) ? '_' : ''}${joined}Spider`
}
