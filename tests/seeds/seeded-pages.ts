/** A spider that waits for seeds, sets a cookie and follows all links: what a crawl may want of a Redis, it asks for. */

import { RedisSpider, type Response } from 'webloom'
import type { Logger } from 'webloom/ports'

export class SeededPages extends RedisSpider {
  override name = 'pages'
  override maxIdleTime = 0.3
  override *parse(response: Response): Generator<unknown> {
    yield { url: response.url }
    for (const request of response.followAll()) yield request.replace({ cookies: { seen: '1' } })
  }
}

/** The file of a spider of that name, for commands. */
export const SEEDED_PAGES_FILE = `import { RedisSpider } from 'webloom'
export default class Pages extends RedisSpider {
  name = 'pages'
  async *parse() {}
}
`

/** Keeps each line as one text, with the error that is in it. */
export function keepingLogger(lines: string[]): Logger {
  const keep = (fields: object | string, text?: string) => {
    lines.push(`${text ?? ''} ${JSON.stringify(fields)} ${(fields as { err?: Error }).err ?? ''}`)
  }
  const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep, child: () => logger }
  return logger
}
