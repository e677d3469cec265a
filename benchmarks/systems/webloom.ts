/** Webloom in one process with its defaults, but for the bounds on concurrency and the log. */

import { crawl, type Response, Spider } from 'webloom'
import { type Measured, report, type Task } from '../measured.ts'

export async function crawlWebloom({ seeds, concurrency, select }: Task): Promise<Measured> {
  class Links extends Spider {
    override name = 'links'
    override startUrls = [...seeds]
    override *parse(response: Response): Generator<unknown> {
      yield* response.followAll()
    }
  }
  class Titles extends Links {
    override *parse(response: Response): Generator<unknown> {
      yield { title: response.css('title::text').get() }
      yield* response.followAll()
    }
  }
  const begun = performance.now()
  const { stats } = await crawl(select ? Titles : Links, {
    settings: {
      CONCURRENT_REQUESTS: concurrency,
      CONCURRENT_REQUESTS_PER_DOMAIN: concurrency,
      LOG_LEVEL: 'ERROR',
      LOGSTATS_INTERVAL: 0,
      STATS_DUMP: false,
    },
  })
  return { pages: Number(stats.response_received_count), seconds: (performance.now() - begun) / 1000 }
}

await report(crawlWebloom)
