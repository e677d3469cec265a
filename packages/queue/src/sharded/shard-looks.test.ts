import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { ShardState } from '../shards/shard-state.ts'
import { ShardLooks } from './shard-looks.ts'

const STATE: ShardState = {
  ...{ replid: 'a', nowMs: 0, offset: 0, run: 'r', mayFinish: false, waiting: 0, delayed: 0, leased: 0 },
  ...{ sent: new Map(), applied: new Map() },
}

const quietIn = async () => null

test('a shard that does not answer is left out, is asked once as long as it is away, and is there again when it is back', async () => {
  let away = Promise.withResolvers<ShardState>()
  let asked = 0
  const looks = new ShardLooks(
    new Map([
      ['00', { quietIn, shardState: async () => STATE }],
      [
        '01',
        {
          quietIn,
          shardState: () => {
            asked++
            return away.promise
          },
        },
      ],
    ]),
    20,
  )
  for (let n = 0; n < 3; n++) expect([...(await looks.answering()).keys()]).toEqual(['00'])
  expect(asked).toBe(1)
  away.resolve(STATE)
  await turn()
  expect([...(await looks.answering()).keys()].toSorted()).toEqual(['00', '01'])

  away = Promise.withResolvers()
  away.reject(new Error('its server has ended'))
  expect([...(await looks.answering()).keys()]).toEqual(['00'])
  await expect(looks.all()).rejects.toThrow('its server has ended')
})
