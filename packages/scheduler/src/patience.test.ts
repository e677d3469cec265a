import { scaledTimes, silentLogger, WebloomError } from '@webloom/core'
import { expect, test } from 'vitest'
import { patiently } from './patience.ts'

test('a wait for a full Redis is told when it begins and when it is over', async () => {
  const told: string[] = []
  const logger = {
    ...silentLogger,
    warn: (_fields: object | string, text?: string) => void told.push(`WARNING ${text}`),
    info: (text: object | string) => void told.push(`INFO ${text}`),
  }
  let tries = 0
  const step = async () => {
    if (++tries < 3) throw new WebloomError('WL_REDIS_FULL', 'OOM')
    return 'done'
  }
  const patience = { logger, times: scaledTimes(0.01).scheduler, what: 'queueing' }
  expect(await patiently(step, patience)).toBe('done')
  expect(await patiently(step, patience)).toBe('done')
  expect(told).toEqual([
    expect.stringMatching(/^WARNING queueing must wait: Redis has reached its maxmemory/),
    'INFO queueing goes on: Redis accepts it again',
  ])
})

test('what many pages wait for at once is told once', async () => {
  const told: string[] = []
  const logger = {
    ...silentLogger,
    warn: (_fields: object | string, text?: string) => void told.push(`WARNING ${text}`),
    info: (text: object | string) => void told.push(`INFO ${text}`),
  }
  let isFull = true
  let tries = 0
  const step = async () => {
    if (++tries > 200) isFull = false
    if (isFull) throw new WebloomError('WL_REDIS_FULL', 'OOM')
  }
  const patience = { logger, times: scaledTimes(0.01).scheduler, what: 'queueing links' }
  await Promise.all(Array.from({ length: 50 }, () => patiently(step, patience)))
  expect(told).toEqual([
    expect.stringMatching(/^WARNING queueing links must wait/),
    'INFO queueing links goes on: Redis accepts it again',
  ])
})
