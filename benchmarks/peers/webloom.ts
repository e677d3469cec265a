/** Webloom with its defaults, but for the bounds on concurrency and the log; on Redis when the task names one. */

import { crawl, type Response, Spider } from 'webloom'
import { type PeerTask, reportUse } from './peer-task.ts'

export async function crawlWebloom({ seeds, concurrency, select, redis, flavour }: PeerTask): Promise<void> {
  class Pages extends Spider {
    override name = 'pages'
    override startUrls = [...seeds]
    override *parse(response: Response): Generator<unknown> {
      if (select) yield { title: response.css('title::text').get() }
      yield* response.followAll()
    }
  }
  await crawl(Pages, {
    settings: {
      CONCURRENT_REQUESTS: concurrency,
      CONCURRENT_REQUESTS_PER_DOMAIN: concurrency,
      ROBOTSTXT_OBEY: false,
      LOG_LEVEL: 'ERROR',
      LOGSTATS_INTERVAL: 0,
      STATS_DUMP: false,
      ...(redis !== null && { REDIS_URL: redis, DUPEFILTER_CLASS: flavour }),
    },
  })
}

await reportUse(crawlWebloom)
