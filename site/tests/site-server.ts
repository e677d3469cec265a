import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { pagesOf, readSite } from '../source/pages.ts'
import { STAGE_FILE, type Stage } from '../source/staged.ts'

export const DIST = join(import.meta.dirname, '../dist')

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

export interface SiteServer extends AsyncDisposable {
  readonly origin: string
}

/** What the build has noted of the site. Throws when it is not built. */
export function builtStage(): Stage {
  if (!existsSync(join(DIST, 'index.html'))) throw new Error('The site is not built: npm run docs builds it')
  return JSON.parse(readFileSync(join(DIST, '../pages', STAGE_FILE), 'utf8')) as Stage
}

/** The address of the page with this file name, in whatever folder of docs it is: `/settings.html`. */
export function addressOf(name: string): string {
  const pages = pagesOf(readSite(join(import.meta.dirname, '../..')))
  const page = pages.find(({ source }) => source.startsWith('docs/') && source.endsWith(`/${name}.md`))
  if (page === undefined) throw new Error(`No page of docs/ is named ${name}.md`)
  return `/${page.path.replace(/\.md$/, '.html')}`
}

/** Serves the built site as any server of files would. Throws when it is not built. */
export async function serveSite(): Promise<SiteServer> {
  builtStage()
  const server = createServer(({ url = '/' }, response) => {
    const path = decodeURIComponent(new URL(url, 'http://site.example').pathname)
    const file = join(DIST, path.endsWith('/') ? `${path}index.html` : path)
    if (!existsSync(file)) return void response.writeHead(404).end()
    response.setHeader('content-type', TYPES[extname(file)] ?? 'text/plain').end(readFileSync(file))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    origin: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
