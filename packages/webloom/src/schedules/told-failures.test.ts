import { beginRun } from '@webloom/queue'
import { InUse, startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { dueOf, startWebhook } from '../../testing/due-run.ts'

const NOT_BEGUN = 'a run of due was due, and could not be begun'

test('a run that has begun and is refused by its worker is ended when no other worker joins it, and people are told', async () => {
  await using used = new InUse()
  const server = used.use(await startRedis())
  const hook = await startWebhook(used)
  const { crawls, lastFire, lookedUntil, redis, keys } = await dueOf(used, server, {
    settings: { MONITOR_WEBHOOKS: [hook.url] },
  })
  await lookedUntil('begun by its schedule')
  const [wanted] = await crawls.look()
  // A worker of another machine is there: it may go on with the run.
  const other = { at: Date.now(), host: 'other', pid: 1 }
  await redis.hset(keys.workers, 'other:1:a', JSON.stringify(other))
  crawls.refused(wanted!, 'the page of this machine')
  expect(await crawls.look()).toHaveLength(1)
  await redis.del(keys.workers)
  crawls.refused(wanted!, 'RECRAWL is off')
  await lookedUntil('is ended, as its worker refuses it')
  expect(await lastFire()).toMatchObject({ outcome: 'failed', why: 'RECRAWL is off' })
  expect(await redis.hmget(keys.record, 'state', 'finishReason')).toEqual(['stopped', 'refused'])
  expect(await crawls.look()).toEqual([])
  expect(JSON.parse(await hook.told).alerts[0].words).toMatch(
    /^a run that the schedule daily began, or was to begin, cannot be: RECRAWL is off$/,
  )
})

test('a refusal does not hold for another schedule that has gone on with the run since, nor for the same at another hour', async () => {
  await using used = new InUse()
  const { crawls, redis, keys, lastFire, lookedUntil } = await dueOf(used, used.use(await startRedis()), {})
  await lookedUntil('begun by its schedule')
  const [early] = await crawls.look()
  const goesOn = async (fire: string, schedule: string, set: string[]) => {
    await redis.hset(keys.record, 'state', 'stopped', 'finishReason', 'not_opened')
    const by = { redis, keys, fire, schedule, flags: { set } }
    expect((await beginRun({ ...by, persists: false, flushes: false, shards: 1 })).outcome).toBe('resumed')
  }
  await goesOn('b', 'late', ['RECRAWL=adaptive'])
  crawls.refused(early!, 'RECRAWL is off')
  const [late] = await crawls.look()
  expect([late!.flags, late!.key, late!.asked === early!.asked]).toEqual([
    { set: ['RECRAWL=adaptive'] },
    early!.key,
    false,
  ])
  await goesOn('c', 'late', ['RECRAWL=adaptive'])
  crawls.refused(late!, 'RECRAWL is off')
  expect(await crawls.look()).toHaveLength(1)
  expect(await redis.hget(keys.record, 'state')).toBe('running')
  expect((await lastFire())?.outcome).toBe('begun')
})

test('a run that could not be begun is told until the receiver takes it, with one id, also by another process than the one that noted it', async () => {
  await using used = new InUse()
  const server = used.use(await startRedis())
  const hook = await startWebhook(used, 2)
  const { anew, lookedUntil, schedules } = await dueOf(used, server, {
    settings: { MONITOR_WEBHOOKS: [hook.url] },
    set: ['EXTENSIONS={"./gone.ts#Gone":500}'],
  })
  await lookedUntil('another try follows')
  expect((await schedules.all())[0]!.untold).toMatchObject([{ schedule: 'daily' }])
  const later = await anew()
  await vi.waitFor(async () => {
    await later.look()
    expect(hook.sent).toHaveLength(3)
  }, 10_000)
  expect(new Set(hook.sent.map((text) => JSON.parse(text).id)).size).toBe(1)
  await vi.waitFor(async () => expect((await schedules.all())[0]!.untold).toBeUndefined())
})

test('a schedule that its Redis has lost is told of, once, with the line that makes it again; one that was removed is not', async () => {
  await using used = new InUse()
  const server = used.use(await startRedis())
  const hook = await startWebhook(used)
  const { crawls, anew, schedules, lines, lookedUntil, redis, keys } = await dueOf(used, server, {
    settings: { MONITOR_WEBHOOKS: [hook.url] },
  })
  const other = { spider: 'due', crawlId: null, cron: '0 7 * * *', tz: 'UTC', flags: {} }
  await schedules.set({ ...other, name: 'removed' })
  await lookedUntil('begun by its schedule')
  const second = await anew()
  await second.look()
  await schedules.remove('removed')
  await redis.del(`${keys.schedules}:repeat`)
  await lookedUntil('nobody removed it')
  await second.look()
  await crawls.look()
  const [{ words }] = JSON.parse(await hook.told).alerts
  expect(words).toContain("schedule due '0 6 * * *' --name daily --tz UTC -s REDIS_URL=")
  const said = lines.filter((line) => line.includes('nobody removed it'))
  expect(said).toEqual([words])
  await schedules.set({ ...other, name: 'daily' })
  await crawls.look()
  expect(hook.sent).toHaveLength(1)
})

test('what a component throws as it is made has no secret in the log, in its schedule and in what people are told', async () => {
  await using used = new InUse()
  const hook = await startWebhook(used)
  const why =
    'no postgres://bob:hush1@db.example/shop?password=hush2 with token=hush3 and Authorization: Bearer hush4x, as '
  const { fields, lastFire, lookedUntil } = await dueOf(used, used.use(await startRedis()), {
    settings: { MONITOR_WEBHOOKS: [hook.url] },
    set: ['CRAWL_ID=piped'],
    onSpider: () => {
      throw new Error(why + 'x'.repeat(1000))
    },
  })
  await lookedUntil(NOT_BEGUN)
  const told = await hook.told
  const seen = [told, JSON.stringify(fields), (await lastFire())!.why!]
  for (const text of seen) expect(text).toContain('postgres://***@db.example/shop?password=***')
  for (const text of seen) expect(text).not.toMatch(/hush|bob/)
  expect(JSON.parse(told).alerts[0].words).toHaveLength(500)
  expect(JSON.parse(told).text).toMatch(
    /^[^ ]+: a scheduled run cannot be\n• a run that the schedule \S+ began/,
  )
})

test('a worker’s refusal is told without its secrets', async () => {
  await using used = new InUse()
  const { crawls, fields, lastFire, lookedUntil } = await dueOf(used, used.use(await startRedis()), {})
  await lookedUntil('begun by its schedule')
  const [wanted] = await crawls.look()
  crawls.refused(wanted!, 'no postgres://bob:hush1@db.example/shop, token=hush3')
  await lookedUntil('is ended, as its worker refuses it')
  const why = 'no postgres://***@db.example/shop, token=***'
  expect(await lastFire()).toMatchObject({ outcome: 'failed', why })
  expect(fields).toContainEqual({ schedule: 'daily', reason: why })
})
