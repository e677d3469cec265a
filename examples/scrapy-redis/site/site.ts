import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A directory of links: categories that hold categories, and entries that lead elsewhere. */
const DIRECTORY: Readonly<Record<string, readonly string[]>> = {
  '/': ['/Arts/', '/Science/'],
  '/Arts/': ['/Arts/Weaving/', '/Arts/Music/'],
  '/Science/': ['/Science/Rivers/', '/Arts/Weaving/'],
  '/Arts/Weaving/': [],
  '/Arts/Music/': [],
  '/Science/Rivers/': ['/Arts/Music/'],
}

/** Entries of a category. */
export interface Entry {
  readonly name: string
  readonly description: string
  readonly link: string
}

/** Two for each category but the first page. */
export function entriesOf(path: string): readonly Entry[] {
  const words = path.split('/').filter((word) => word !== '')
  if (words.length === 0) return []
  const name = words.join(' ')
  return ['Society', 'Review'].map((kind) => ({
    name: `${name} ${kind}`,
    description: `The ${kind.toLowerCase()} of ${words.at(-1)}.`,
    link: `https://${words.join('-').toLowerCase()}.example/${kind.toLowerCase()}`,
  }))
}

/** The paths of all pages. */
export const PATHS: readonly string[] = Object.keys(DIRECTORY)

export interface Site {
  /** Of the first page, with the slash at its end. */
  readonly url: string
  /** How often each path was asked for. */
  readonly fetches: ReadonlyMap<string, number>
  close(): Promise<void>
}

/** Serves the directory on loopback; without a port, on one that is free. */
export async function startSite({ port = 0 } = {}): Promise<Site> {
  const fetches = new Map<string, number>()
  const server = createServer(({ url = '/' }, response) => {
    fetches.set(url, (fetches.get(url) ?? 0) + 1)
    const isThere = url in DIRECTORY
    response.writeHead(isThere ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' })
    response.end(isThere ? pageOf(url) : '<!DOCTYPE html><title>Not found</title>')
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    fetches,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function pageOf(path: string): string {
  const categories = DIRECTORY[path]!.map(
    (category) =>
      `<div class="${path === '/' ? 'top-cat' : 'cat-item'}"><a href="${category}">${category}</a></div>`,
  )
  const entries = entriesOf(path).map(
    ({ name, description, link }) => `<div class="title-and-desc">
  <a href="${link}"><div class="site-title">${name}</div></a>
  <div class="site-descr"> ${description} </div>
</div>`,
  )
  return `<!DOCTYPE html><html><head><title>Directory ${path}</title></head>
<body><a href="/not-a-category/">about</a>${[...categories, ...entries].join('\n')}</body></html>`
}
