import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { DownloadError, IgnoreRequest, Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { Response } from '../responses/response.ts'
import { HttpError } from '../spider-middlewares/http-error.ts'
import { FailureSnapshots, givenUpOf, threwFor } from './given-up.ts'

const request = new Request('http://a.test/1', { callback: 'parseItem' })
const answer = (body: string | Uint8Array, status = 200) =>
  new Response('http://a.test/1', { status, body, request, headers: { 'content-type': 'text/html' } })
const reasonOf = (error: unknown) => givenUpOf({ request, error, response: null })?.reason

test('each kind of error has its reason; a request that was refused has none', () => {
  expect(reasonOf(new DownloadError('DownloadTimeoutError', 'too slow'))).toBe('download')
  expect(reasonOf(new HttpError(answer('', 404)))).toBe('status')
  expect(reasonOf(new IgnoreRequest('its host is given up', 'WL_HOST_GIVEN_UP'))).toBe('host')
  expect(reasonOf(new IgnoreRequest('no robots.txt', 'WL_ROBOTS_GIVEN_UP'))).toBe('robots')
  expect(reasonOf(new IgnoreRequest('Forbidden by robots.txt'))).toBeUndefined()
  expect(reasonOf(new TypeError('a middleware'))).toBe('middleware')
  expect(reasonOf('text')).toBe('middleware')
})

test('a callback’s error is named by its class, its callback makes another signature, and the message is cut', () => {
  const one = threwFor(new RangeError('x'.repeat(10_000)), answer(''))
  expect(one).toMatchObject({ reason: 'callback', kind: 'RangeError', status: 200 })
  expect(one.message).toHaveLength(500)
  const other = new Response('http://a.test/1', { request: new Request('http://a.test/1') })
  expect(threwFor(new RangeError('x'.repeat(10_000)), other).signature).not.toBe(one.signature)
})

test('the first failure of a signature has the response with it', () => {
  const snapshots = new FailureSnapshots()
  const failure = threwFor(new TypeError('no title'), answer('<h1>ü</h1>'))
  const { snapshot } = snapshots.with(failure, answer('<h1>ü</h1>'))
  expect(snapshot).toMatchObject({ url: 'http://a.test/1', status: 200, contentType: 'text/html', bytes: 11 })
  expect(gunzipSync(Buffer.from(snapshot!.body, 'base64')).toString()).toBe('<h1>ü</h1>')
  expect(snapshots.with(failure, answer('')).snapshot).toBeUndefined()
  expect(snapshots.with({ ...failure, signature: 'other' }, null).snapshot).toBeUndefined()
})

test('of a large body as much is kept as 64 KiB of gzip take', () => {
  const snapshots = new FailureSnapshots()
  const failure = threwFor(new TypeError('no title'), answer(''))
  for (const [signature, body] of [
    ['random', randomBytes(3_000_000)],
    ['text', Buffer.alloc(3_000_000, 'a')],
  ] as const) {
    const { snapshot } = snapshots.with({ ...failure, signature }, answer(body))
    const packed = Buffer.from(snapshot!.body, 'base64')
    expect(packed.length).toBeLessThanOrEqual(64 * 1024)
    const kept = gunzipSync(packed)
    expect(kept).toEqual(body.subarray(0, kept.length))
    expect(kept.length).toBeGreaterThan(30_000)
    expect(snapshot!.bytes).toBe(3_000_000)
  }
})
