/** The contracts of queue and ledger, all of them, kept by shards that lie on the masters of a real Redis Cluster. */

import { failureLedgerContract, requestQueueContract, withoutSlotNow } from '@webloom/core/contract'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { LEDGER_DEVIATIONS, QUEUE_DEVIATIONS, ShardBench } from '../../testing/shard-bench.ts'

describe.each([2, 3, 6])('over %i shards', (shards) => {
  const bench = new ShardBench(shards)
  beforeAll(() => bench.start())
  afterAll(() => bench.stop())

  requestQueueContract(
    { describe, test },
    {
      name: 'ShardedQueue',
      create: (options) => bench.queue(options),
      createRefusing: async () => {
        const { queue, dispose } = await bench.queue({})
        await queue.open()
        return { queue, refuse: (isRefused) => bench.refuseWrites(isRefused), dispose }
      },
      deviations: [
        ...QUEUE_DEVIATIONS,
        ...withoutSlotNow('its slots are held by many workers; the cluster’s desk asks Redis'),
      ],
    },
  )

  failureLedgerContract(
    { describe, test },
    {
      name: 'The ledger of a ShardedQueue',
      create: ({ failedMax }) => bench.queue({ givingUp: { failedMax } }),
      deviations: LEDGER_DEVIATIONS,
    },
  )
})
