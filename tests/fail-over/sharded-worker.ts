/** A worker of a crawl over several shards, as a process of its own: its order is its argument, as JSON. It says how it ended. */

import { type Response, Spider } from '@webloom/spider'
import { pino } from 'pino'
import { assemble } from '../../packages/webloom/src/assembly/assemble.ts'

export interface ShardedWorkerOrder {
  readonly startUrls: readonly string[]
  readonly settings: Readonly<Record<string, unknown>>
}

/** What it says. */
export interface ShardedWorkerEnd {
  readonly finishReason: string
  readonly stats: Readonly<Record<string, unknown>>
}

const { startUrls, settings } = JSON.parse(process.argv[2]!) as ShardedWorkerOrder

class Pages extends Spider {
  override readonly name = 'pages'
  override startUrls = [...startUrls]
  override *parse(response: Response) {
    yield* response.followAll()
  }
}

const logger = pino({ level: 'info' }, process.stderr)
const crawl = await assemble(Pages, {
  folder: import.meta.dirname,
  layers: { command: settings },
  createLogger: () => logger,
  part: { begins: false, isWorker: true },
})
const { finishReason, stats } = await crawl.run()
console.log(JSON.stringify({ finishReason, stats } satisfies ShardedWorkerEnd))
// Connections that were lost may still try to come back.
process.exit(0)
