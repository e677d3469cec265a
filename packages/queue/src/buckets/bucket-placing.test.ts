import { Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { HostSlots } from '../politeness/host-slots.ts'
import { BucketPlacing } from './bucket-placing.ts'

const slots = new HostSlots({ groupBy: 'host', resolve: async () => [] })

test('pages that are due of a host with several lanes go to the lanes that they are addressed to', () => {
  const placing = new BucketPlacing({
    ...{ order: 'priority', slots },
    addressOf: (slot, asker) => `${slot}.${asker}`,
  })
  const due = ['a', 'b', 'a'].map((id, n) => ({
    ...{ id, name: Buffer.from(`name ${n}`) },
    request: new Request(`http://hot.example/${n}`),
  }))
  const groups = placing.due(due)
  expect(groups.map(({ bucket, requests }) => [bucket.split('.').at(-1), requests.length])).toEqual([
    ['a', 2],
    ['b', 1],
  ])
})
