import { markLockedOut, Request, silentLogger, WebloomError } from '@webloom/core'
import { expect, test } from 'vitest'
import { logFailure } from './failure-log.ts'

test('a request that meets the Redis for which the crawl ends is no second ERROR', () => {
  const errors: string[] = []
  const error = (_fields: object | string, text?: string) => void errors.push(text ?? '')
  const locked = new WebloomError('WL_REDIS_REFUSED', 'Redis at h:6379 does not let this process in')
  const log = () => {
    const failure = { request: new Request('http://a.example/'), error: locked, response: null }
    logFailure(failure, { ...silentLogger, error }, () => {})
  }
  log()
  expect(errors).toEqual(['could not be downloaded'])
  markLockedOut(locked)
  log()
  expect(errors).toHaveLength(1)
})
