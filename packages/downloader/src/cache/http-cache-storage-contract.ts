import assert from 'node:assert/strict'
import { type ContractTests, type Deviation, runContract, type TestRunner } from '@webloom/core/contract'
import type { CachedExchange, HttpCacheStorage, HttpCacheStorageOptions } from './http-cache-storage.ts'

/** The options that a test wants for its storage. By default entries never expire, and bodies are not compressed. */
export type CacheUnderTest = Partial<Pick<HttpCacheStorageOptions, 'expirationMs' | 'gzip'>>

interface Open {
  /** Opens one more storage over the same place, as the next worker or the next crawl would. */
  (options?: CacheUnderTest): HttpCacheStorage
  /** Closes one before the test ends; the others are closed then. */
  close(storage: HttpCacheStorage): Promise<void>
}

export interface HttpCacheStorageImplementation {
  readonly name: string
  /** Makes a fresh place; `dispose` removes it when every storage over it is closed. */
  create(): Promise<{
    open(options: Required<CacheUnderTest>): HttpCacheStorage
    dispose(): Promise<void>
  }>
  readonly deviations?: readonly Deviation[]
}

const FINGERPRINT = 'a94a8fe5ccb19ba61c4c0873d391e987982fbbd3'
const OTHER = 'a94a8fe5ccb19ba61c4c0873d391e987982fbbd4'

const exchange = (parts: Partial<CachedExchange> = {}): CachedExchange => ({
  method: 'GET',
  url: 'https://example.com/?a=1',
  requestHeaders: [['accept', '*/*']],
  requestBody: new Uint8Array(0),
  status: 200,
  responseHeaders: [['content-type', 'text/html']],
  body: Buffer.from('<p>hello'),
  storedAtMs: 1_700_000_000_123,
  ...parts,
})

/** Makes exchanges comparable: their bodies may be any kind of byte array. */
function plain(found: CachedExchange | undefined) {
  if (!found) return undefined
  const { requestBody, body, ...rest } = found
  return { ...rest, requestBody: Buffer.from(requestBody), body: Buffer.from(body) }
}

/** An answer that shows when it is mixed from two: each part names its number. */
function numbered(n: number): CachedExchange {
  return exchange({
    status: 200 + n,
    requestHeaders: [['x-n', `${n}`]],
    responseHeaders: [['x-n', `${n}`]],
    body: Buffer.alloc(20_000, n),
  })
}

function numberOf(found: CachedExchange): number {
  const n = found.status - 200
  assert.deepEqual(plain(found), plain(numbered(n)))
  return n
}

const TESTS: ContractTests<Open> = {
  'what a browser brought beside the page is kept with it': async (open) => {
    const rendered = '{"captured":[],"errors":["wrong"],"blocked":[]}'
    const storage = open()
    await storage.store(FINGERPRINT, exchange({ rendered }))
    assert.equal((await storage.retrieve(FINGERPRINT))?.rendered, rendered)
  },
  'what was never stored is not there': async (open) => {
    assert.equal(await open().retrieve(FINGERPRINT), undefined)
  },
  'what was stored comes back, byte for byte': async (open) => {
    const storage = open()
    const odd = exchange({
      method: 'POST',
      requestHeaders: [
        ['x-empty', ''],
        ['x-colon', 'a: b: c'],
      ],
      requestBody: Buffer.from([0, 255, 13, 10]),
      status: 404,
      responseHeaders: [
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
        ['x-latin', 'é'],
      ],
      body: Buffer.from([13, 10, 0, 128, 255]),
    })
    await storage.store(FINGERPRINT, odd)
    assert.deepEqual(plain(await storage.retrieve(FINGERPRINT)), plain(odd))
    // An empty array without memory of its own.
    const nothing = new TextEncoder().encode('')
    const empty = exchange({ requestHeaders: [], requestBody: nothing, responseHeaders: [], body: nothing })
    await storage.store(OTHER, empty)
    assert.deepEqual(plain(await storage.retrieve(OTHER)), plain(empty))
  },
  'when the answer came is known to the millisecond': async (open) => {
    const storage = open()
    for (let n = 0; n < 50; n++) {
      const storedAtMs = 1_700_000_000_001 + n * 7919
      await storage.store(FINGERPRINT, exchange({ storedAtMs }))
      assert.equal((await storage.retrieve(FINGERPRINT))?.storedAtMs, storedAtMs)
    }
  },
  'what is stored again takes the place of what was': async (open) => {
    const storage = open()
    await storage.store(FINGERPRINT, numbered(1))
    await storage.store(FINGERPRINT, numbered(2))
    assert.equal(numberOf((await storage.retrieve(FINGERPRINT))!), 2)
  },
  'what was stored is there for the next crawl, when the storage is closed': async (open) => {
    const storage = open()
    await storage.store(FINGERPRINT, numbered(1))
    await open.close(storage)
    assert.equal(numberOf((await open().retrieve(FINGERPRINT))!), 1)
  },
  'fingerprints that begin alike are two entries; one that is removed leaves the other': async (open) => {
    const storage = open()
    await storage.store(FINGERPRINT, numbered(1))
    await storage.store(OTHER, numbered(2))
    await storage.remove(FINGERPRINT)
    assert.equal(await storage.retrieve(FINGERPRINT), undefined)
    assert.equal(numberOf((await storage.retrieve(OTHER))!), 2)
  },
  'removing what is not there is harmless': async (open) => {
    await open().remove(FINGERPRINT)
  },
  'what one worker stores or removes, another finds so': async (open) => {
    const [one, other] = [open(), open()]
    await one.store(FINGERPRINT, numbered(1))
    assert.equal(numberOf((await other.retrieve(FINGERPRINT))!), 1)
    await other.remove(FINGERPRINT)
    assert.equal(await one.retrieve(FINGERPRINT), undefined)
  },
  'the next crawl finds it, compressed or not, however that crawl itself stores': async (open) => {
    for (const gzip of [false, true]) {
      const before = open({ gzip })
      await before.store(FINGERPRINT, numbered(1))
      for (const next of [open({ gzip }), open({ gzip: !gzip })])
        assert.equal(numberOf((await next.retrieve(FINGERPRINT))!), 1)
    }
  },
  'what was stored longer ago than it may be is as good as not there': async (open) => {
    const storedAtMs = Date.now() - 60_000
    await open().store(FINGERPRINT, exchange({ storedAtMs }))
    assert.equal(await open({ expirationMs: 59_000 }).retrieve(FINGERPRINT), undefined)
    for (const expirationMs of [600_000, 0])
      assert.equal((await open({ expirationMs }).retrieve(FINGERPRINT))?.storedAtMs, storedAtMs)
  },
  'while it is stored anew and anew, a reader never meets half of an entry': async (open) => {
    const [writer, reader] = [open(), open()]
    let isWritten = false
    const written = (async () => {
      for (let n = 0; n < 60; n++) {
        await writer.store(FINGERPRINT, numbered(n))
        await eventLoopTurn()
      }
      isWritten = true
    })()
    let last = 0
    while (!isWritten) {
      const found = await reader.retrieve(FINGERPRINT)
      if (found) {
        const n = numberOf(found)
        assert.ok(n >= last, `${n} came after ${last}`)
        last = n
      }
      await eventLoopTurn()
    }
    await written
    assert.equal(numberOf((await reader.retrieve(FINGERPRINT))!), 59)
  },
  'of several workers that store it at once, one has stored it, whole': async (open) => {
    const workers = Array.from({ length: 5 }, () => open())
    for (let round = 0; round < 10; round++) {
      await Promise.all(workers.map(async (worker, n) => worker.store(FINGERPRINT, numbered(n))))
      const found = await workers[0]!.retrieve(FINGERPRINT)
      assert.ok(found, 'nothing is there')
      numberOf(found)
    }
  },
}

const eventLoopTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Every HttpCacheStorage runs this. */
export function httpCacheStorageContract(
  runner: TestRunner,
  { name, create, deviations }: HttpCacheStorageImplementation,
): void {
  runContract<Open>(runner, 'HttpCacheStorage', TESTS, {
    name,
    ...(deviations && { deviations }),
    create: async () => {
      const { open, dispose } = await create()
      const opened = new Set<HttpCacheStorage>()
      const opens = ({ expirationMs = 0, gzip = false }: CacheUnderTest = {}) => {
        const storage = open({ expirationMs, gzip })
        opened.add(storage)
        return storage
      }
      const close = async (storage: HttpCacheStorage) => {
        opened.delete(storage)
        await storage.close()
      }
      return {
        subject: Object.assign(opens, { close }),
        dispose: async () => {
          for (const storage of opened) await storage.close()
          await dispose()
        },
      }
    },
  })
}
