/** Redis does not replicate users: a replica that Sentinels have made the master may lack the crawl's. */

import {
  PROTOCOL_TIMES,
  type RedisClient,
  redisTargets,
  Settings,
  silentLogger,
  type WebloomError,
} from '@webloom/core'
import { type SentinelRedis, startSentinels } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { RedisLink } from './redis-connection.ts'

const SHORT_MS = 5000

let redis: SentinelRedis
let promoted: number
let patient: Waiting
let hasty: Waiting
beforeAll(async () => {
  // Nobody is taken for gone: a busy machine would have another fail-over.
  redis = await startSentinels({ sentinels: 1, password: 'admin', downAfterMs: 60_000 })
  const [master] = redis.servers
  await master!.command('ACL', 'SETUSER', 'loom', 'on', '>pw', '~*', '&*', '+@all')
  await master!.command('SET', 'page', '1')
  await master!.command('WAIT', '2', '10000')
  patient = await waitingAt(redis.url, { startTimeoutMs: 30_000, troubleMsMax: 60_000 })
  hasty = await waitingAt(redis.url, { startTimeoutMs: SHORT_MS, troubleMsMax: SHORT_MS })
  // Redis has it, and answers nothing.
  answerOf(hasty, (client) => client.blpop('nothing', 0))
  await vi.waitUntil(async () => /blocked_clients:2/.test(String(await master!.command('INFO', 'clients'))))
  await redis.sentinels[0]!.command('SENTINEL', 'FAILOVER', 'crawls')
  promoted = (await redis.untilWritable(master)).port
  await master!.kill()
  for (const of of [patient, hasty]) answerOf(of, (client) => client.get('page'))
})
afterAll(async () => {
  hasty.close()
  patient.close()
  await redis.stop()
})

type Waiting = Awaited<ReturnType<typeof waitingAt>>

async function waitingAt(
  url: string,
  { startTimeoutMs, troubleMsMax }: { startTimeoutMs: number; troubleMsMax: number },
) {
  const lines: string[] = []
  const tell = (_fields: object | string, text?: string) => void lines.push(text ?? String(_fields))
  const ended = Promise.withResolvers<WebloomError>()
  const settings = Settings.fromLayers({ command: { REDIS_URL: url.replace(/\/\/:[^@]+@/, '//loom:pw@') } })
  const link = new RedisLink(redisTargets(settings, 'queue')[0]!, {
    startTimeoutMs,
    logger: { ...silentLogger, warn: tell, info: tell, error: tell },
    roles: ['queue'],
    whose: { spider: 'pages' },
    times: { ...PROTOCOL_TIMES, redis: { ...PROTOCOL_TIMES.redis, troubleMsMax } },
    onHopeless: () => ended.resolve,
  })
  await link.open()
  const made = link.client.duplicate({ lazyConnect: false })
  made.on('error', () => {})
  await made.ping()
  const close = () => {
    made.disconnect()
    link.close()
  }
  return { link, made, lines, ended: ended.promise, answers: [] as Promise<unknown>[], close }
}

/** Of both connections. */
function answerOf({ link, made, answers }: Waiting, ask: (client: RedisClient) => Promise<unknown>): void {
  for (const client of [link.client, made]) {
    const answer = ask(client)
    answer.catch(() => {})
    answers.push(answer)
  }
}

const locked = () => `127.0.0.1:${promoted}, which is the master now, does not let this process in`
const about = (lines: readonly string[], text: string) => lines.filter((line) => line.includes(text))

test('a replica without the user that takes its master’s place is told once, and after a while the crawl ends; all that waits hears why', async () => {
  const { message } = await hasty.ended
  expect(message).toContain(locked())
  expect(about(hasty.lines, 'The crawl waits for up to 5 s, and then ends')).toEqual([
    expect.stringContaining(locked()),
  ])
  expect(about(hasty.lines, 'It was waited for in vain')).toEqual([expect.stringContaining(locked())])
  expect(about(hasty.lines, 'let this process in')).toHaveLength(2)
  for (const answer of hasty.answers) await expect(answer).rejects.toThrow(message)
  await expect(hasty.link.client.get('late')).rejects.toThrow(message)
})

test('what is sent there waits until it is given the user, by the line that is told', async () => {
  await vi.waitFor(() => expect(about(patient.lines, locked())).toHaveLength(1))
  const [line = ''] = about(patient.lines, locked())
  expect(line).toContain(`Type at that server (redis-cli -h 127.0.0.1 -p ${promoted}): `)
  expect(line).not.toContain('REDIS_URL')
  const [, typed = ''] = /: ACL (SETUSER loom .*?) \(docs/.exec(line)!
  const master = redis.servers.find(({ port }) => port === promoted)!
  await master.command('ACL', ...typed.replace('<password>', 'pw').split(' '), '~page')
  expect(await Promise.all(patient.answers)).toEqual(['1', '1'])
  await vi.waitFor(() =>
    expect(about(patient.lines, 'Redis lets this process in again; the crawl goes on')).toHaveLength(1),
  )
  expect(about(patient.lines, locked())).toHaveLength(1)
})
