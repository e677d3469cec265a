import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { type RedisServer, startRedis, tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
