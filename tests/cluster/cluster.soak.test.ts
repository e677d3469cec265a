/** What several workers share with the other QUEUE_MODE than in cluster.test.ts; and two crawls at once. */

import { startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, describe, test } from 'vitest'
import {
  afterTheEnd,
  eachRoleAlone,
  killedInMidCrawl,
  lateWorker,
  pausedAndStopped,
  sharedByThree,
  TwoServers,
  twoCrawls,
} from './cluster-rounds.ts'

let servers: TwoServers
beforeAll(async () => {
  servers = await TwoServers.start()
})
afterAll(() => servers[Symbol.asyncDispose]())

test.each(['turns', 'job'] as const)(
  'QUEUE_MODE=%s: two crawls under different CRAWL_IDs at once share nothing',
  (mode) => twoCrawls(mode, servers),
)

describe('QUEUE_MODE=job', () => {
  test('three workers share a crawl: each page is fetched once, and all end', () =>
    sharedByThree('job', servers))

  test('a worker that starts after the end fetches nothing; crawl and worker --new begin anew', () =>
    afterTheEnd('job', servers))

  test('a worker killed with -9 in mid-crawl is noticed, and what it held is crawled by another', () =>
    killedInMidCrawl('job', servers))

  test('what one Redis holds is of its role alone', () => eachRoleAlone('job'))

  test('a late worker takes its part', async () => {
    await using redis = await startRedis()
    await lateWorker(redis, 'job')
  })

  test('pause, resume and stop reach every worker within two seconds', () => pausedAndStopped('job', servers))
})
