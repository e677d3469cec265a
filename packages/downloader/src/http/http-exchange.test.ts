/** Bounds of one exchange over real HTTP; what hostile servers do besides stands in `tests/hostile/hostile-web.test.ts`. */

import { DownloadError, MemoryStatsCollector, Request } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LocalSite } from '../../testing/local-site.ts'
import { outcomeOfError } from '../pace/host-back-off.ts'
import { HttpDownloadHandler, type HttpDownloadHandlerOptions } from './http-download-handler.ts'
import { byName } from './wire-request.ts'

let site: LocalSite

beforeAll(async () => {
  site = await LocalSite.start()
})
afterAll(() => site.close())

async function download(options: HttpDownloadHandlerOptions) {
  const handler = new HttpDownloadHandler(options)
  const signal = new AbortController().signal
  try {
    return await handler.download(new Request(`${site.origin}/`), { signal, onStart() {} })
  } finally {
    await handler.close()
  }
}

test('a body that waits for another does so at no cost to its deadline', async () => {
  const handler = new HttpDownloadHandler({ activeBytesMax: 1_048_576 })
  const ask = (path: string, seconds: number) =>
    handler.download(new Request(site.origin + path, { meta: { download_timeout: seconds } }), {
      signal: new AbortController().signal,
      onStart() {},
    })
  const part = Buffer.alloc(3_000_000, 'x')
  const begun = new Promise<void>((resolve) => {
    site.script = (req, res) => {
      if (req.url === '/quick') res.end(part)
      else res.write(part, () => resolve())
      if (req.url === '/slow') setTimeout(() => res.end(part), 1500)
    }
  })
  const slow = ask('/slow', 30)
  await begun
  const quick = ask('/quick', 1)
  expect((await slow).body.length).toBe(6_000_000)
  expect((await quick).body.length).toBe(3_000_000)
  await handler.close()
})

test('an exchange may be cut off by AbortSignal.timeout(), whose error has a number as its code', async () => {
  site.script = () => {}
  const uncaught: unknown[] = []
  const note = (error: unknown) => void uncaught.push(error)
  process.prependListener('uncaughtException', note)
  const handler = new HttpDownloadHandler()
  const asked = handler.download(new Request(`${site.origin}/`), {
    signal: AbortSignal.timeout(100),
    onStart() {},
  })
  await expect(asked).rejects.toHaveProperty('name', 'TimeoutError')
  await handler.close()
  process.off('uncaughtException', note)
  expect(uncaught).toEqual([])
})

test('a pause shorter than the window is not a drip', async () => {
  site.script = (_, res) => {
    res.write('begun')
    setTimeout(() => res.end('x'.repeat(100)), 150)
  }
  const response = await download({ limits: { rateMin: 10, rateWindowMs: 300 } })
  expect(response.body.length).toBe(105)
})

test('headers may be long in coming as long as they have not begun', async () => {
  site.script = (_, res) => void setTimeout(() => res.end('late'), 300)
  const response = await download({ limits: { rateMin: 1000, rateWindowMs: 100 } })
  expect(response.text).toBe('late')
})

test('what a limit ends is counted by its reason', async () => {
  site.script = (_, res) => res.end('x'.repeat(1000))
  const stats = new MemoryStatsCollector()
  const error = await download({ limits: { bodyBytesMax: 999 }, stats }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(DownloadError)
  expect((error as DownloadError).message).toContain('DOWNLOAD_MAXSIZE is 999')
  expect(stats.snapshot()).toEqual({ 'downloader/protection/body_size': 1 })
})

test.each([
  ['Expect', { headers: { expect: '100-continue' } }],
  [
    'a Content-Length that is not the body’s',
    { method: 'POST', body: 'abc', headers: { 'content-length': '2' } },
  ],
  ['Transfer-Encoding', { headers: { 'transfer-encoding': 'chunked' } }],
  ['a control character', { headers: { x: 'a\x01' } }],
])('a header that cannot be sent is the request’s fault and not the host’s: %s', async (_, init) => {
  site.script = (_req, res) => res.end('ok')
  const handler = new HttpDownloadHandler()
  const request = new Request(`${site.origin}/`, init)
  const error = await handler
    .download(request, { signal: new AbortController().signal, onStart() {} })
    .catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'WL_REQUEST_INVALID' })
  expect(outcomeOfError(error, request)).toBeUndefined()
  await handler.close()
})

test('headers by name may be called as what every object has', () => {
  expect({ ...byName(['constructor', 'a', '__proto__', 'b', 'constructor', 'c']) }).toMatchObject({
    constructor: ['a', 'c'],
  })
})
