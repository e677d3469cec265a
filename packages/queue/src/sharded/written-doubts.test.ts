import { type QueuedRequest, Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { BucketPlacing } from '../buckets/bucket-placing.ts'
import { NewRequests } from '../buckets/new-requests.ts'
import type { BucketScripts } from '../buckets/scripts/bucket-scripts.ts'
import { CommandNumbers } from '../buckets/scripts/command-numbers.ts'
import { QueuedAskers } from '../buckets/scripts/queued-askers.ts'
import type { Placed } from '../frontier/turn-protocol.ts'
import { SLOTS_BY_HOST } from '../politeness/host-slots.ts'

test('a link that is given twice is told to be written once, as it is: each entry has a number', async () => {
  const told: Placed[] = []
  const fresh = new NewRequests({
    scripts: {
      endDoubts: async () => ({ queued: ['a', 'b'], sent: [], woken: [], raised: [] }),
    } as unknown as BucketScripts,
    ...{ commands: new CommandNumbers('w'), queued: new QueuedAskers(), slots: SLOTS_BY_HOST },
    placing: new BucketPlacing({ order: 'fifo', slots: SLOTS_BY_HOST, addressOf: () => '>01\npage\n#1' }),
    onAdded: () => {},
    onSent: (groups) => void told.push(...groups),
    onPoint: () => {},
    onWentBack: () => {},
  })
  const link = (id: string): QueuedRequest => ({ id, request: new Request('http://h.test/') })
  await fresh.endDoubts([], [link('a'), link('b'), link('a'), link('c')])
  expect(told.flatMap(({ texts }) => texts).map((text) => text.split('\n')[0])).toEqual(['a', 'b'])
})
