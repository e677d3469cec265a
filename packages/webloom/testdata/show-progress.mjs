// Run on a pseudo terminal by screen-processes.test.ts: a crawl of a second, with log lines and a spider's own words between.

import { setTimeout as sleep } from 'node:timers/promises'

const folder = new URL('../src/terminal/', import.meta.url)
const { startProgress } = await import(new URL('../progress/progress.ts', folder))
const { createLogger } = await import(new URL('logger.ts', folder))
const { processScreen } = await import(new URL('screen.ts', folder))

let done = 0
const snapshot = async () => ({ done, queued: 1500, downloading: 16, scraping: 2, items: done, errors: 1, filtered: 90, retries: 3 })
const progress = startProgress({ spider: { name: 'quotes' }, snapshot })
const logger = createLogger({ destination: processScreen() })
for (let turn = 0; turn < 20; turn++) {
  await sleep(50)
  done += 10
  logger.info({ turn }, 'log line')
  if (turn % 5 === 0) console.log(`console line ${turn}`)
  if (turn === 12) process.stdout.write('half a line')
}
await sleep(400)
if (process.argv[2] === 'stay') process.exit(0)
progress.stop()
logger.info('the end')
