import { type Crawler, type DownloadHandler, type Extension, noRedis, silentLogger } from '@webloom/core'
import { Spider } from '@webloom/spider'
import { type RedisServer, startRedis } from '@webloom/testkit'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { tryWorker } from './try-worker.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

const closed: string[] = []
beforeEach(() => void closed.splice(0))

class Shop extends Spider {
  override name = 'shop'
}

/** Opens a connection of its own as soon as it is made. */
class First implements Extension {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
    void redis.ping()
  }

  static fromCrawler({ redis }: Crawler): First {
    return new First((redis?.('queue') ?? noRedis('queue')).duplicate())
  }

  async close(): Promise<void> {
    await this.#redis.quit()
    closed.push('first')
  }
}

class Second implements Extension {
  close(): void {
    closed.push('second')
  }
}

class Failing implements Extension {
  close(): void {
    closed.push('failing')
    throw new Error('cannot be closed')
  }
}

class Handler implements DownloadHandler {
  async download(): Promise<never> {
    throw new Error('is not called')
  }

  async close(): Promise<void> {
    closed.push('handler')
  }
}

class Refused {
  constructor() {
    throw new Error('MY_KEY is missing')
  }

  processItem(item: unknown): unknown {
    return item
  }
}

const optionsOf = (more: object) => ({
  layers: {
    command: {
      REDIS_URL: server.url,
      EXTENSIONS: [
        [First, 1],
        [Failing, 2],
        [Second, 3],
      ],
      DOWNLOAD_HANDLERS: { mem: Handler },
      ...more,
    },
  },
  folder: import.meta.dirname,
  createLogger: () => silentLogger,
})

/** Connections besides the one that asks. */
async function connections(): Promise<number> {
  return (
    String(await server.command('CLIENT', 'LIST'))
      .trim()
      .split('\n').length - 1
  )
}

test('what was made to try a worker is closed, the last part first, and no connection stays', async () => {
  await tryWorker(Shop, optionsOf({}))
  expect(closed).toEqual(['handler', 'second', 'failing', 'first'])
  await expect.poll(connections).toBe(0)
})

test('a worker that is refused leaves nothing open, either', async () => {
  const trying = tryWorker(Shop, optionsOf({ ITEM_PIPELINES: [[Refused, 1]] }))
  await expect(trying).rejects.toThrow('MY_KEY is missing')
  expect(closed).toEqual(['handler', 'second', 'failing', 'first'])
  await expect.poll(connections).toBe(0)
})
