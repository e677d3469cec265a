/** Real workers: a process each, with the protocol’s own times. */

import './scrapy-redis.test.ts'
