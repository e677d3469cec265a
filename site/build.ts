/** Builds the site into `site/dist/`, and fails when a link in it leads nowhere. Packages must be built. */

import { join } from 'node:path'
import { build } from 'vitepress'
import { brokenLinks } from './built/broken-links.ts'
import { stageAll } from './source/staged.ts'

const SITE = import.meta.dirname
const DIST = join(SITE, 'dist')

stageAll(join(SITE, '..'), join(SITE, 'pages'))
await build(SITE)
const broken = brokenLinks(DIST)
for (const problem of broken) console.error(problem)
if (broken.length > 0) {
  console.error(`${broken.length} broken links`)
  process.exitCode = 1
} else console.log(`The site is in ${DIST}: npm run docs:dev shows it, or any server of files.`)
