/** Of links in doubt, each kind of queue with a filter of its own; the other two pairs are in links-in-doubt.soak.test.ts. */

import { linksInDoubt } from './links-in-doubt.ts'

linksInDoubt('turns', 'redis-set')
linksInDoubt('job', 'redis-bloom')
