/** A worker process for the tests of host turns: prints what `crawlTree` tells. */

import { crawlTree, type TurnWorkerOptions } from './bucket-crawl.ts'

await crawlTree(JSON.parse(process.argv[2]!) as TurnWorkerOptions, console.log)
