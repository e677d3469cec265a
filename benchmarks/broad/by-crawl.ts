/** Runs the spider beside it by `crawl()`; `settings.json` has the settings. */

import { readFileSync } from 'node:fs'
import { crawl } from 'webloom'
import { Pages } from './pages-spider.ts'

// Told to stop, it ends at once: the figures are those of this moment.
process.once('SIGTERM', () => process.exit())
await crawl(Pages, { settings: JSON.parse(readFileSync('settings.json', 'utf8')) })
process.exit()
