/** All cases of the tests of crashes, and of a Redis in trouble. */

import './bucket-crashes.test.ts'
import './bucket-redis-set-back.test.ts'
import './bucket-redis-trouble.test.ts'
