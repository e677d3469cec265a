import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'vitest'
import { writeFileSync } from 'node:fs'
import { OutageCrawl } from './cluster-outages.ts'
const role = (process.env.ROLE ?? 'queue') as 'queue'
test('outage', { timeout: 200_000 }, async () => {
  await using crawl = await OutageCrawl.of({ mode: (process.env.QMODE ?? 'turns') as 'turns', settings: { LOG_LEVEL: 'DEBUG' } })
  await crawl.startTwoUntil(0.3)
  const proxy = crawl.proxies[role]
  if (process.env.HOW === 'hang') proxy.hang()
  else await proxy.down()
  await sleep(8000)
  if (process.env.HOW === 'hang') proxy.flow()
  else await proxy.up()
  const r = await Promise.race([crawl.expectEnd({ repeatsMax: 16 }).then(() => 'ok', (e) => String(e).slice(0, 300)), sleep(60_000)])
  console.log('RESULT', r)
  if (r === undefined) {
    const q = crawl.servers.queue
    for (const k of (await q.command('KEYS', '*')) as string[]) {
      const t = await q.command('TYPE', k)
      const v = t === 'hash' ? await q.command('HGETALL', k) : t === 'list' ? await q.command('LRANGE', k, 0, 5) : t === 'zset' ? await q.command('ZRANGE', k, 0, 5, 'WITHSCORES') : t === 'string' ? await q.command('GET', k) : t
      console.log(k, t, JSON.stringify(v).slice(0, 600))
    }
  }
  writeFileSync(`/tmp/h/chaos-outage-${process.env.HOW}-${process.env.N}.txt`, crawl.workers.map((w) => w.stderr).join('\n=====\n'))
  console.log(crawl.folder.itemUrls().length, crawl.web.linked().size)
})
