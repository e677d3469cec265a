import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runProcess } from '../index.ts'
import { askRedis } from './redis-ask.ts'

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'a process ended by %s leaves no server behind',
  async (signal) => {
    const script = `
    const { startRedis } = await import(${JSON.stringify(new URL('../index.ts', import.meta.url).href)})
    const redis = await startRedis()
    console.log(JSON.stringify([redis.port, (await redis.command('CONFIG', 'GET', 'dir'))[1]]))
    process.kill(process.pid, '${signal}')
    setInterval(() => {}, 1000)`
    const { stdout } = await runProcess(process.execPath, ['--input-type=module', '-e', script])
    const [port, dir] = JSON.parse(stdout) as [number, string]
    await expect.poll(() => existsSync(dir)).toBe(false)
    const refusal = () => askRedis({ host: '127.0.0.1', port }, ['PING']).catch((error) => error.code)
    await expect.poll(refusal).toBe('ECONNREFUSED')
  },
)
