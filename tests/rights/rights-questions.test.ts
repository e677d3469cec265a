/** How a user of Redis is asked for its rights: Redis from releases of 2026 on answers only a question with all arguments that the command takes. */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { argumentsAsked, withRightsCheck } from '@webloom/core'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { REDIS_RIGHTS } from '../../packages/webloom/src/redis/redis-rights.ts'

const ROOT = join(import.meta.dirname, '../..')

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

/** How many words a command has with its name: so many, or at least so many where it is negative. */
async function arities(names: readonly string[]): Promise<Map<string, number>> {
  const found = (await redis.command('COMMAND', 'INFO', ...names)) as [string, number][]
  return new Map(found.map((info, n) => [names[n]!, info[1]]))
}

/** Those of these questions, by the command, that have too few or too many words. */
async function wronglyAsked(questions: readonly (readonly [command: string, words: number])[]) {
  const known = await arities([...new Set(questions.map(([command]) => command))])
  return questions.filter(([command, words]) => {
    const arity = known.get(command)!
    return arity < 0 ? words < -arity : words !== arity
  })
}

test('each right of a role is asked for with as many arguments as its command takes', async () => {
  const commands = Object.values(REDIS_RIGHTS).flatMap((rights) => rights.commands)
  const questions = commands.map((command) => {
    const words = command.split('|').length + (argumentsAsked(command, 'key')?.length ?? -9)
    return [command, words] as const
  })
  expect(await wronglyAsked(questions)).toEqual([])
})

test('so does each script of ours and of BullMQ’s ask for each command that it can come to', async () => {
  const patterns = ['packages/*/lua/**/*.lua', 'node_modules/bullmq/dist/cjs/scripts/*.js']
  const scripts = patterns.flatMap((pattern) => globSync(join(ROOT, pattern)))
  const questions = scripts.flatMap((path) => {
    const lua = readFileSync(path, 'utf8')
    const asked = [...withRightsCheck(lua).matchAll(/not may\((.*?)\) and '([a-z|_]+)'/g)]
    const named = new Set(asked.map(([, , command]) => command))
    const called = [...lua.matchAll(/call\((["'])([A-Z_]+)\1/g)].map(([, , name = '']) => name.toLowerCase())
    // A command that is in no list would be asked for by nobody.
    expect(
      called.filter((name) => ![...named].some((command) => command?.split('|')[0] === name)),
      path,
    ).toEqual([])
    return asked.map(
      ([, words = '', command = '']) => [command, words.split(/, (?![^(]*\))/).length] as const,
    )
  })
  expect(questions.length).toBeGreaterThan(1000)
  expect(await wronglyAsked(questions)).toEqual([])
})
