import { expect, test } from 'vitest'
import { TIMER_MS_MAX } from '../waiting/deadline.ts'
import { bodyBytesMaxOf, downloadTimeoutMsOf } from './download-bounds.ts'
import { Request } from './request.ts'

const withMeta = (meta?: Record<string, number>) => new Request('http://a.test/', meta ? { meta } : {})

test.each([
  [undefined, 1000],
  [{ download_maxsize: 50 }, 50],
  [{ download_maxsize: 0 }, 0],
  [{ download_maxsize: -1 }, 1000],
  [{ download_maxsize: Number.NaN }, 1000],
])('of DOWNLOAD_MAXSIZE 1000 and meta %o a body may have %i bytes', (meta, bytes) => {
  expect(bodyBytesMaxOf(withMeta(meta), 1000)).toBe(bytes)
})

test.each([
  [undefined, 180_000],
  [{ download_timeout: 0.05 }, 50],
  [{ download_timeout: 0 }, 180_000],
  [{ download_timeout: -1 }, 180_000],
  [{ download_timeout: 1e9 }, TIMER_MS_MAX],
])('of DOWNLOAD_TIMEOUT 180 and meta %o a download may take %i ms', (meta, ms) => {
  expect(downloadTimeoutMsOf(withMeta(meta), 180_000)).toBe(ms)
})
