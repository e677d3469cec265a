/**
 * Crawls that several worker processes share, on real Redis servers, judged by what the fake web saw. What is left out of one
 * QUEUE_MODE here is in cluster.soak.test.ts, and so are two crawls at once, which all of these are to one another.
 */

import { afterAll, beforeAll, describe, test } from 'vitest'
import {
  afterTheEnd,
  eachRoleAlone,
  killedInMidCrawl,
  pausedAndStopped,
  sharedByThree,
  TwoServers,
} from './cluster-rounds.ts'

let servers: TwoServers
beforeAll(async () => {
  servers = await TwoServers.start()
})
afterAll(() => servers[Symbol.asyncDispose]())

const LONG = { timeout: 120_000 }

describe.concurrent('QUEUE_MODE=turns', LONG, () => {
  test('three workers share a crawl: each page is fetched once, and all end', () =>
    sharedByThree('turns', servers))

  test('what one Redis holds is of its role alone', () => eachRoleAlone('turns'))

  test('a worker that starts after the end fetches nothing; crawl and worker --new begin anew', () =>
    afterTheEnd('turns', servers))

  test('a worker killed with -9 in mid-crawl is noticed, and what it held is crawled by another', () =>
    killedInMidCrawl('turns', servers))
})

// Alone: it measures how soon.
test('pause, resume and stop reach every worker within two seconds', LONG, () =>
  pausedAndStopped('turns', servers),
)
