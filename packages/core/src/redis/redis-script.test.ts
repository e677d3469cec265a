import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { type RedisServer, startRedis, tempDir } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { luaScriptsIn, RedisScript, type ScriptRunner } from './redis-script.ts'
import { ScriptRefusal } from './script-refusal.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

/** Over the server's own connection; counts what it sends. */
function runner(): ScriptRunner & { readonly sent: string[] } {
  const sent: string[] = []
  const send =
    (name: string) =>
    (...args: (string | number | Buffer)[]) => {
      sent.push(name)
      return server.command(name, ...args)
    }
  return { sent, eval: send('EVAL'), evalsha: send('EVALSHA') }
}

test('is sent whole once over a connection, then by its hash, and whole again to a server that has forgotten it', async () => {
  const redis = runner()
  const script = new RedisScript("return {KEYS[1], ARGV[1], 'first'}")
  for (let n = 0; n < 2; n++) expect(await script.run(redis, ['k'], ['a'])).toEqual(['k', 'a', 'first'])
  await server.command('SCRIPT', 'FLUSH')
  expect(await script.run(redis, ['k'], ['a'])).toEqual(['k', 'a', 'first'])
  expect(redis.sent).toEqual(['EVAL', 'EVALSHA', 'EVALSHA', 'EVAL'])
})

test('what a script refuses comes as code and detail, whole or by its hash', async () => {
  const redis = runner()
  const script = new RedisScript("return redis.error_reply('WEBLOOM_' .. ARGV[1])")
  for (const [said, code, detail] of [
    ['FULL 0.1,2', 'FULL', '0.1,2'],
    ['MOVED the tree has changed', 'MOVED', 'the tree has changed'],
  ]) {
    const refusal = await script.run(redis, [], [said!]).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(ScriptRefusal)
    expect(refusal).toMatchObject({ code, detail })
  }
})

test.each([
  "redis.error_reply('MOVED 3999 127.0.0.1:6381')",
  "redis.error_reply('LAYERS: none')",
  "redis.call('GET', 'WEBLOOM_FULL', 'and more')",
])('%s is not a refusal of ours', async (said) => {
  const failure = new RedisScript(`return ${said}`).run(runner(), [], [])
  await expect(failure).rejects.not.toBeInstanceOf(ScriptRefusal)
})

test('what Redis says comes with a code where it may run the script later', async () => {
  const script = new RedisScript("return redis.error_reply('LOADING the dataset')")
  await expect(script.run(runner(), [], [])).rejects.toMatchObject({ code: 'WL_REDIS_AWAY' })
})

test('what a file defines, each file after it sees and may change; the first that returns ends the script', async () => {
  await using folder = await tempDir()
  const files = {
    'first.lua': 'local met = 0 -- no line end',
    'second.lua': 'local function meet(by)\n  met = met + by\n  return met\nend\n',
    'third.lua': "if ARGV[1] == 'early' then\n  return { 'early', met }\nend\n",
    'fourth.lua': 'meet(1)\nreturn { meet(2), met }\n',
  }
  for (const [name, lua] of Object.entries(files)) writeFileSync(folder.join(name), lua)
  const script = luaScriptsIn(pathToFileURL(`${folder.path}/`))(...Object.keys(files))
  expect(await script.run(runner(), [], ['early'])).toEqual(['early', 0])
  expect(await script.run(runner(), [], ['late'])).toEqual([3, 3])
})

test('a user who lacks a right to a command in the middle of a script has done nothing of it, by whatever name it is called', async () => {
  const script = new RedisScript(`redis.call('SET', KEYS[1], 'x', 'PX', 9999)
local push = ARGV[1] == 'last' and 'RPUSH' or 'LPUSH'
redis.call(push, KEYS[2], 'x')
redis.call('PUBLISH', KEYS[1] .. ':news', 'x')`)
  const rights = ['+eval', '+evalsha', '+info', '+set', '+lpush', '+rpush', '+publish']
  await server.command('ACL', 'SETUSER', 'few', 'on', '>pw', '~few:*', '&few:*', ...rights)
  const redis = new Redis(server.url.replace('://', '://few:pw@'))
  onTestFinished(() => redis.disconnect())
  const run = () => script.run(redis, ['few:a', 'few:b'], ['last'])
  for (const right of ['set', 'rpush', 'publish']) {
    await server.command('ACL', 'SETUSER', 'few', `-${right}`)
    await expect(run()).rejects.toThrow(`NOPERM this user has no permissions to run the '${right}' command`)
    await server.command('ACL', 'SETUSER', 'few', `+${right}`)
  }
  await server.command('ACL', 'SETUSER', 'few', 'resetchannels')
  await expect(run()).rejects.toThrow(/'publish'/)
  expect(await server.command('EXISTS', 'few:a', 'few:b')).toBe(0)
  await server.command('ACL', 'SETUSER', 'few', '&few:*')
  await run()
  expect(await server.command('EXISTS', 'few:a', 'few:b')).toBe(2)
})

test('what tells Redis how to run a script stays its first line, also for a user of its own', async () => {
  const script = new RedisScript("#!lua flags=allow-oom\nreturn redis.call('HLEN', KEYS[1])")
  await server.command('ACL', 'SETUSER', 'full', 'on', '>pw', 'allkeys', 'allcommands')
  const redis = new Redis(server.url.replace('://', '://full:pw@'))
  onTestFinished(() => redis.disconnect())
  expect(await script.run(redis, ['none'], [])).toBe(0)
})
