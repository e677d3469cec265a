/**
 * A callback that blocks its worker's event loop for longer than a lock lasts: nobody else gets what the worker has. With
 * QUEUE_MODE=job in cluster-blocked.soak.test.ts.
 */

import { startRedis } from '@webloom/testkit'
import { test } from 'vitest'
import { blockedForLong } from './cluster-blocked.ts'

test('a callback blocks its worker for twice as long as a lock lasts: each page is fetched once, and the worker is not lost', {
  timeout: 240_000,
}, async () => {
  await using redis = await startRedis()
  await blockedForLong(redis, 'turns')
})
