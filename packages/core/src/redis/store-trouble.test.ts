import { describe, expect, test } from 'vitest'
import { WebloomError } from '../errors/errors.ts'
import { isRedisFull, redisError, redisRefusal, storeTrouble, withRedisCodes } from './store-trouble.ts'

describe('what Redis says', () => {
  test.each([
    ["OOM command not allowed when used memory > 'maxmemory'.", 'full'],
    ["OOM command not allowed when used memory > 'maxmemory'. script: 2fa1, on @user_script:1.", 'full'],
    [
      "ERR Error running script (call to f_1): @user_script:3: @user_script: 3: -OOM command not allowed when used memory > 'maxmemory'.",
      'full',
    ],
    ['LOADING Redis is loading the dataset in memory', 'passing'],
    ["READONLY You can't write against a read only replica.", 'passing'],
    ['Connection is closed.', 'passing'],
    ['read ECONNRESET', 'passing'],
    ['WRONGTYPE Operation against a key holding the wrong kind of value: OOM', undefined],
    ["ERR unknown command 'BF.BLOOM command not allowed'", undefined],
    ['the key books:BLOOM is not a filter', undefined],
  ])('%s', (message, trouble) => {
    const said = new Error(message)
    expect(storeTrouble(redisError(said))).toBe(trouble)
    expect(isRedisFull(said)).toBe(trouble === 'full')
    expect(isRedisFull(redisError(said))).toBe(trouble === 'full')
    expect(redisError(said)).toMatchObject({ message, ...(trouble && { cause: said }) })
  })

  test('is read where it comes in: nobody else goes by the words', async () => {
    const loading = new Error('LOADING Redis is loading the dataset in memory')
    expect(storeTrouble(loading)).toBe(undefined)
    await expect(withRedisCodes(Promise.reject(loading))).rejects.toMatchObject({ code: 'WL_REDIS_AWAY' })
    await expect(withRedisCodes(Promise.resolve(1))).resolves.toBe(1)
  })

  test.each([
    ['WRONGTYPE Operation against a key holding the wrong kind of value', 'wrong-type'],
    [
      'ERR Error running script (call to f_1): @user_script:3: WRONGTYPE Operation against a key',
      'wrong-type',
    ],
    ["ERR unknown command 'SMISMEMBER', with args beginning with: 'WRONGTYPE'", 'unknown-command'],
    ['ERR Unknown Redis command called from script script: 2fa1', 'unknown-command'],
    ["NOPERM this user has no permissions to run the 'xadd' command", 'other'],
    ['ERR value is not an integer or out of range', 'other'],
    ['LOADING Redis is loading the dataset in memory', undefined],
    [
      "ERR Error running script: @user_script:3: -OOM command not allowed when used memory > 'maxmemory'.",
      undefined,
    ],
    ['the key books:WRONGTYPE is not a filter', undefined],
  ])('%s: would be refused again: %s', (message, refusal) => {
    expect(redisRefusal(new Error(message))).toBe(refusal)
  })

  test('our own errors are told by their codes, whatever they say', () => {
    expect(redisRefusal(new WebloomError('WL_REDIS_REFUSED', 'x'))).toBe('other')
    expect(redisRefusal(Object.assign(new Error('x'), { code: 'WL_REDIS_REFUSED' }))).toBe('other')
    expect(storeTrouble(new WebloomError('WL_QUEUE_FULL', 'x'))).toBe('full')
    expect(storeTrouble(new WebloomError('WL_DUPEFILTER_FULL', 'x'))).toBe('full')
    const lost = new WebloomError('WL_LEASE_LOST', 'Connection is closed.')
    expect(redisError(lost)).toBe(lost)
    expect(storeTrouble(lost)).toBe(undefined)
    expect(storeTrouble('OOM command not allowed')).toBe(undefined)
  })
})
