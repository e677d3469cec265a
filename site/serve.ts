/** Serves the site while its pages are written: a page that is saved is shown anew. `--port 5000` chooses the port. */

import { watch } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createServer } from 'vitepress'
import { stageAll, stagePages } from './source/staged.ts'

const SITE = import.meta.dirname
const ROOT = join(SITE, '..')
const PAGES = join(SITE, 'pages')
/** Editors write a file in several steps. */
const PAUSE_MS = 100

const { values } = parseArgs({ options: { port: { type: 'string', default: '5173' } } })
stageAll(ROOT, PAGES)
const server = await createServer(SITE, { port: Number(values.port) })
await server.listen()
server.printUrls()

let timer: NodeJS.Timeout | undefined
for (const folder of ['docs', '.'])
  watch(join(ROOT, folder), { recursive: folder === 'docs' }, (_, name) => {
    if (!name?.endsWith('.md')) return
    clearTimeout(timer)
    timer = setTimeout(restage, PAUSE_MS)
  })

function restage(): void {
  try {
    stagePages(ROOT, PAGES)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
  }
}
