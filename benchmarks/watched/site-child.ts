/**
 * One host without end, in a process of its own: the first message says how many pages wait at any moment and is answered with the port,
 * every later one with how many were asked for so far. A page has eight links, one to a page that nobody knows yet and seven to pages
 * that were met before: so a crawl of it goes on as it was for as long as somebody measures.
 */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const LINKS = 8
const FILLING =
  '<p>amber birch cedar delta ember fjord grove heron inlet jetty knoll larch maple north</p>\n'.repeat(20)

process.once('message', (wide: number) => {
  let asked = 0
  const server = createServer((request, response) => {
    asked++
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(pageOf(Number(request.url!.slice(1)) || 0, wide))
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
  process.on('message', () => process.send!(asked))
})
process.once('disconnect', () => process.exit())

function pageOf(page: number, wide: number): string {
  const links = Array.from({ length: LINKS }, (_, n) =>
    n === 0 ? page + wide : Math.max(0, page - n * wide),
  )
  const list = links.map((to) => `<li><a href="/${to}">Page ${to}</a></li>`).join('\n')
  return `<!doctype html><html><head><title>Page ${page}</title></head><body><ul>${list}</ul>${FILLING}</body></html>`
}
