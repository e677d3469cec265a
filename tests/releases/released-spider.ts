import { type Response, Spider } from 'webloom'
import { FIRST_PAGE } from './release-site.ts'

/** Its crawls are what releases leave behind: the name, and those of its callbacks, stay. */
export default class Released extends Spider {
  override name = 'released'
  override startUrls = [FIRST_PAGE]
  override async *parse(response: Response) {
    yield { url: response.url, title: response.css('title::text').get() }
    yield* response.followAll('a', { callback: this.parse, meta: { from: response.url } })
  }
}
