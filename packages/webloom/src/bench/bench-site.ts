/** The site of `webloom bench`, in a process of its own: pages of 7.4 KB with 30 links each. */

import { createServer } from 'node:http'

const LINKS = 30
const PAGE_BYTES = 7400

const pages = Number(process.argv[2])
const rendered = Array.from({ length: pages }, (_, page) => Buffer.from(html(page)))

const server = createServer((request, response) => {
  const body = rendered[Number(/^\/p\/(\d+)$/.exec(request.url ?? '')?.[1] ?? -1)]
  if (body)
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-length': body.length })
  else response.writeHead(404)
  response.end(body)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address) process.send?.(`http://127.0.0.1:${address.port}`)
})
process.on('disconnect', () => process.exit())

/** Children of a tree first, so that all pages are found; the other links lead to pages that are mostly known. */
function html(page: number): string {
  const links = Array.from(
    { length: LINKS },
    (_, n) => (n < 4 ? page * 4 + n + 1 : page * 31 + n * 337) % pages,
  )
  const list = links.map((to) => `<li class="entry"><a href="/p/${to}">page number ${to}</a></li>`).join('\n')
  const head = `<!DOCTYPE html><html><head><meta charset="utf-8"><title>Page ${page}</title></head><body><h1>Page ${page}</h1><ul>\n${list}\n</ul>\n`
  const paragraph = `<div class="text"><p>Words of page ${page}, as many as it takes to make it as long as others are.</p></div>\n`
  return `${head}${paragraph.repeat(Math.ceil((PAGE_BYTES - head.length) / paragraph.length))}</body></html>\n`
}
