import {
  type BodyTo,
  DownloadError,
  type DownloadOptions,
  MemoryStatsCollector,
  Request,
  Response,
  silentLogger,
} from '@webloom/core'
import { expect, test } from 'vitest'
import { inTime } from './in-time.ts'

/** A download by a handler that gives what `download` gives, and what was told of it. */
function downloading(
  download: (options: DownloadOptions) => unknown,
  {
    signal = new AbortController().signal,
    timeoutMs = 20,
    meta = {},
    bodyTo = undefined as BodyTo | undefined,
  } = {},
) {
  const stats = new MemoryStatsCollector()
  const told = Promise.withResolvers<string>()
  const logger = { ...silentLogger, debug: (_: unknown, text?: string) => void told.resolve(String(text)) }
  const request = new Request('own://x/', { meta })
  const left = { count: 0 }
  const options = { signal, onStart: () => void left.count++, ...(bodyTo && { bodyTo }) }
  const handler = { download: (_: Request, given: DownloadOptions) => download(given) as Promise<Response> }
  const answer = inTime(handler, request, options, { timeoutMs, stats, logger })
  return { answer, stats, left, told: told.promise }
}

test('a handler that never answers is left at the deadline, and its signal has fired', async () => {
  let given: AbortSignal | undefined
  const { answer, stats } = downloading(({ signal }) => {
    given = signal
    return new Promise(() => {})
  })
  const error = await answer.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(DownloadError)
  expect(error).toMatchObject({ kind: 'DownloadTimeoutError', reason: 'deadline' })
  expect((error as Error).message).toContain('DOWNLOAD_TIMEOUT')
  expect(given?.aborted).toBe(true)
  expect(stats.get('downloader/protection/deadline')).toBe(1)
})

test('meta.download_timeout (seconds) overrides the deadline', async () => {
  const { answer } = downloading(() => new Promise(() => {}), {
    timeoutMs: 60_000,
    meta: { download_timeout: 0.01 },
  })
  await expect(answer).rejects.toThrow('0.01 s')
})

test('what comes too late is dropped and told: error, start and body', async () => {
  const late = Promise.withResolvers<void>()
  const taken: unknown[] = []
  const bodyTo: BodyTo = () => (chunk) => void taken.push(chunk)
  const { answer, left, told } = downloading(
    async ({ onStart, bodyTo: given }) => {
      const take = given!(200, new Response('own://x/').headers)!
      await late.promise
      onStart()
      take(new Uint8Array(1))
    },
    { bodyTo },
  )
  await expect(answer).rejects.toThrow('took longer')
  late.resolve()
  expect(await told).toBe('a download that came too late is dropped')
  expect(left.count).toBe(0)
  expect(taken).toEqual([])
})

test('a handler that heeds no signal is left when the crawl is cut off', async () => {
  const cut = new AbortController()
  const { answer } = downloading(() => new Promise(() => {}), { signal: cut.signal, timeoutMs: 60_000 })
  const reason = new Error('the crawl is stopped')
  cut.abort(reason)
  await expect(answer).rejects.toBe(reason)
})

test('an answer in time is the answer', async () => {
  const response = new Response('own://x/')
  const { answer, left } = downloading(async ({ onStart }) => {
    onStart()
    return response
  })
  expect(await answer).toBe(response)
  expect(left.count).toBe(1)
})
