/** All cases of a Redis in trouble: each reply that may be lost, and each way back to an older state. */

import './bucket-redis-set-back.test.ts'
import './bucket-redis-trouble.test.ts'
