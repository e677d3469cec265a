import { expect, test } from 'vitest'
import { InUse } from './in-use.ts'

const thingOf = (name: string, closed: string[]) => ({
  name,
  [Symbol.asyncDispose]: async () => void closed.push(name),
})

test('what is in use is closed at the end of the block, the last first', async () => {
  const closed: string[] = []
  {
    await using inUse = new InUse()
    expect(inUse.use(thingOf('redis', closed)).name).toBe('redis')
    inUse.defer(() => closed.push('client'))
    expect(closed).toEqual([])
  }
  expect(closed).toEqual(['client', 'redis'])
})

test('what was handed on is closed by its new owner alone', async () => {
  const closed: string[] = []
  const first = new InUse()
  first.use(thingOf('redis', closed))
  const owner = first.move()
  await first.close()
  expect(closed).toEqual([])
  await owner.close()
  await owner.close()
  expect(closed).toEqual(['redis'])
})

test('one that cannot be closed keeps no other open', async () => {
  const closed: string[] = []
  const inUse = new InUse()
  inUse.use(thingOf('redis', closed))
  inUse.defer(() => Promise.reject(new Error('it hangs')))
  await expect(inUse.close()).rejects.toThrow('it hangs')
  expect(closed).toEqual(['redis'])
})
