/** What docker-compose.yml runs, without Docker: the same site, seeds, workers and settings, on two Redis servers. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcessResult, type RedisServer, startRedis, tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { SHORT_TIMES } from '../../tests/cluster/cluster-crawl.ts'
import { startWebloom } from '../../tests/projects/command-hosts.ts'
import { type Site, startSite } from './site/site.ts'
import { MILLS, YARNS_PER_MILL } from './site/yarns.ts'

const SEEDS = readFileSync(join(import.meta.dirname, 'seeds.txt'), 'utf8')

let redis: RedisServer
let filterRedis: RedisServer
let site: Site
beforeAll(async () => {
  ;[redis, filterRedis] = await Promise.all([startRedis(), startRedis()])
})
afterAll(() => Promise.all([redis.stop(), filterRedis.stop()]))
beforeEach(async () => {
  await redis.command('FLUSHALL')
  await filterRedis.command('FLUSHALL')
  site = await startSite({ hosts: MILLS.map((_, mill) => `127.0.0.${mill + 1}`) })
  return () => site.close()
})

const webloom = (...words: string[]): Promise<ProcessResult> =>
  startWebloom(words, {
    cwd: import.meta.dirname,
    env: {
      REDIS_URL: redis.url,
      DUPEFILTER_REDIS_URL: filterRedis.url,
      WEBLOOM_SCHEDULER_PERSIST: 'true',
      WEBLOOM_DOWNLOAD_DELAY: '0',
      WEBLOOM_LOG_FORMAT: 'json',
    },
    factor: SHORT_TIMES,
    timeoutMs: 60_000,
  }).exited
const worker = () => webloom('worker', 'yarns', '-a', 'maxIdleTime=1')

/** As the service `seed` does, with the addresses that the mills have here. */
async function seed(): Promise<void> {
  await using folder = await tempDir()
  const file = folder.join('seeds.txt')
  const here = SEEDS.replace(/http:\/\/(\w+)-mill\.test:8000/g, (_, mill) => {
    return site.origins[MILLS.findIndex((name) => name.toLowerCase() === `${mill} mill`)]!
  })
  writeFileSync(file, here)
  const { code, stdout, stderr } = await webloom('seed', 'yarns', '--file', file)
  expect(code, stderr).toBe(0)
  expect(stdout).toContain('2 wait there now')
}

describe('the site', () => {
  test('every page is found from any other, and every link leads to a page', async () => {
    const met = new Set([`${site.origins[3]}/`])
    // A set gives out what is added to it while it is walked through.
    for (const url of met) {
      const response = await fetch(url)
      expect(response.status, url).toBe(200)
      for (const [, href] of (await response.text()).matchAll(/\shref="([^"]*)"/g)) met.add(href!)
    }
    expect([...met].toSorted()).toEqual([...site.urls].toSorted())
  })

  test('another path, or another host, is not there', async () => {
    expect((await fetch(`${site.origins[0]}/yarn/pink-alpaca/`)).status).toBe(404)
    expect((await fetch(site.origins[0]!.replace('127.0.0.1', 'localhost'))).status).toBe(404)
  })
})

test('two workers crawl all mills, each page once, and end; one that starts after the end fetches new seeds, and no page that was met', {
  timeout: 90_000,
}, async () => {
  await seed()
  const ended = await Promise.all([worker(), worker()])
  for (const { code, stderr } of ended) expect(code, stderr).toBe(0)
  expect([...site.fetches.keys()].toSorted()).toEqual([...site.urls].toSorted())
  expect([...site.fetches].filter(([, count]) => count > 1)).toEqual([])

  const items = (await redis.command('LRANGE', 'yarns:items', 0, -1)) as string[]
  expect(items).toHaveLength(MILLS.length * YARNS_PER_MILL)
  const [item] = items.filter((json) => json.includes('/yarn/weld-silk/') && json.includes('Rowan Mill'))
  expect(JSON.parse(item!)).toEqual({
    _id: expect.stringMatching(/\/0$/),
    url: `${site.origins[4]}/yarn/weld-silk/`,
    mill: 'Rowan Mill',
    colour: 'weld',
    fibre: 'silk',
    grams: 50,
    price: 7.75,
  })
  expect(await filterRedis.command('SCARD', 'yarns:dupefilter')).toBeGreaterThan(300)
  expect(await redis.command('EXISTS', 'yarns:dupefilter')).toBe(0)

  // `docker compose up` once more: seeds, and then workers.
  await seed()
  const late = await worker()
  expect(late.code, late.stderr).toBe(0)
  const again = [...site.fetches].filter(([, count]) => count > 1)
  expect(again, 'the two that were seeded').toHaveLength(2)
  for (const [url, count] of again) expect([new URL(url).pathname, count]).toEqual(['/', 2])
})
