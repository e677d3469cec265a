/** All pairs of a place and a type of queue, cut off at each moment. */

import './scrapy-redis-import.test.ts'
