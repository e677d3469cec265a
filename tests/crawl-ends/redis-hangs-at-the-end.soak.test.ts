import { test } from 'vitest'
import { endsThoughRedisHangs } from './redis-hangs-at-the-end.ts'

test('QUEUE_MODE=job: a worker whose Redis hangs ends in its time after SIGTERM, and says what was cut off', () =>
  endsThoughRedisHangs('job'))
