/** The pairs of a queue and a filter that links-in-doubt.test.ts leaves out. */

import { linksInDoubt } from './links-in-doubt.ts'

linksInDoubt('turns', 'redis-bloom')
linksInDoubt('job', 'redis-set')
