/** A user of Redis who lacks a right begins no crawl: it would end in its middle. */

import { REDIS_ROLES, type RedisRole, Settings, silentLogger } from '@webloom/core'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { examplesFor, missingRights } from './missing-rights.ts'
import { aclLine, REDIS_RIGHTS } from './redis-rights.ts'
import { RedisServers } from './redis-servers.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
  for (const role of REDIS_ROLES) {
    const line = aclLine([role], { spider: 'pages' })
    await acl(...line.replace('<user>', role).replace('<password>', 'planted').split(' ').slice(1))
  }
})
afterAll(() => server.stop())

const acl = (...words: string[]) => server.command('ACL', ...words)

const urlOf = (role: RedisRole) => server.url.replace('://', `://${role}:planted@`)

/** Opens what a worker of `pages` opens that uses Redis for this role. */
async function openFor(role: RedisRole): Promise<void> {
  const settings = { REDIS_URL: urlOf(role), CRAWL_ID: 'one' }
  const servers = new RedisServers(Settings.fromLayers({ command: settings }), silentLogger, {
    spider: 'pages',
  })
  servers.redis(role)
  try {
    await servers.open({ forWriting: true })
  } finally {
    servers.close()
  }
}

const TAKEN_AT_ONCE = 8
/** Without the key or channel that it was asked about with. */
const commandOf = (right: string) => (/^(?:client|memory|pubsub) /.test(right) ? right : right.split(' ')[0]!)

test.each(REDIS_ROLES)('of %s each missing right is found', async (role) => {
  const redis = new Redis(urlOf(role))
  onTestFinished(() => redis.disconnect())
  const asked = examplesFor([role], { spider: 'pages' })
  expect(await missingRights(redis, [role], asked)).toEqual([])
  const { commands } = REDIS_RIGHTS[role]
  // Some at a time, as each question is about all.
  for (let from = 0; from < commands.length; from += TAKEN_AT_ONCE) {
    const taken = commands.slice(from, from + TAKEN_AT_ONCE)
    await acl('SETUSER', role, ...taken.map((command) => `-${command}`))
    const found = new Set(await missingRights(redis, [role], asked).then((all) => all.map(commandOf)))
    expect([...found].sort()).toEqual(taken.map((command) => command.replace('|', ' ')).sort())
    await acl('SETUSER', role, ...taken.map((command) => `+${command}`))
  }
})

test('what is missing is named before anything is written, with the line that gives it', async () => {
  await openFor('queue')
  await acl('SETUSER', 'queue', '-zadd', '-pubsub|numsub')
  const refusal = await openFor('queue').catch((error: Error) => error)
  expect(refusal).toMatchObject({
    code: 'WL_REDIS_REFUSED',
    message: expect.stringMatching(
      /may not run pubsub numsub, zadd \(.*Nothing was written\..*: ACL SETUSER <user> .*\+zadd/,
    ),
  })
  expect((refusal as Error).message).not.toContain('planted')
  expect(await server.command('DBSIZE')).toBe(0)
  await acl('SETUSER', 'queue', '+zadd', '+pubsub|numsub')
})

test('so are a channel and keys of the crawl', async () => {
  await acl('SETUSER', 'queue', 'resetchannels', '&webloom:{books}:*')
  await expect(openFor('queue')).rejects.toThrow(
    /may not run publish webloom:\{pages@one\}:asked, subscribe webloom:/,
  )
  await acl('SETUSER', 'queue', 'allchannels', 'resetkeys', '~webloom:{books}:*')
  await expect(openFor('queue')).rejects.toThrow(/may not run type webloom:\{pages@one\}/)
})

test('what only other roles need is nothing that is missing, also on the same server', async () => {
  await acl('SETUSER', 'queue', 'allchannels', 'allkeys')
  await openFor('queue')
})
