import { afterEach, expect, test, vi } from 'vitest'
import { ensureRedisServer, RedisMissing, startRedis, tempDir } from '../index.ts'
import { findRedis } from './redis-program.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

test('what is here is taken', async () => {
  expect(await ensureRedisServer()).toEqual(await findRedis())
})

test('where nothing helps, the message says what was tried and what to do', async () => {
  await using empty = await tempDir()
  vi.stubEnv('PATH', empty.path)
  const missing = await ensureRedisServer().catch((error) => error)
  expect(missing).toBeInstanceOf(RedisMissing)
  expect(missing.message).toBe(
    [
      'Redis is missing: no redis-server in PATH, and no container engine with an image of it.',
      '  apt-get: not in PATH',
      '  docker, podman: not in PATH',
      'To get it: sudo apt-get install redis-server (Debian, Ubuntu), brew install redis (macOS), or start Docker or Podman and run the tests again.',
    ].join('\n'),
  )
  await expect(startRedis()).rejects.toThrow(RedisMissing)
})
