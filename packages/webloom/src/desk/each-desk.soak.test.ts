/** And a crawl on Redis that is not in shards. */

import './each-desk.test.ts'
