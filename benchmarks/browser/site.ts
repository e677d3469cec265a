/**
 * The site of browser-bench.ts, in a process of its own: `/drawn/<n>` draws 20 items with what `/api/<n>` answers and shows four images of
 * 60 KB and a font, `/plain/<n>` is HTML that takes 100 ms. `/log` tells what was asked for since the last time, as milliseconds and paths.
 */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const ITEMS = 20
const IMAGES = 4
const IMAGE_BYTES = 60_000
const PLAIN_MS = 100

const drawn = (page: string) => `<!doctype html><meta charset="utf-8"><title>Page ${page}</title>
<style>@font-face { font-family: own; src: url(/font/${page}.woff2) } body { font-family: own, sans-serif }</style>
<h1>Page ${page}</h1>${Array.from({ length: IMAGES }, (_, n) => `<img src="/image/${page}-${n}.png" width="50" height="50">`).join('')}<main></main>
<script>fetch('/api/${page}').then((answer) => answer.json()).then((items) => {
  for (const text of items) document.querySelector('main').append(Object.assign(document.createElement('p'), { className: 'item', textContent: text }))
})</script>`

const plain = (page: string) =>
  `<!doctype html><title>Plain ${page}</title>${'<p class="item">Some text of a page.</p>'.repeat(ITEMS)}`

let log: [atMs: number, path: string][] = []

const server = createServer(({ url = '' }, answer) => {
  const [, kind = '', name = ''] = url.split('/')
  if (kind === 'log') {
    answer.end(JSON.stringify(log))
    log = []
    return
  }
  log.push([performance.now(), url])
  const send = (type: string, body: string | Buffer) =>
    answer.writeHead(200, { 'content-type': type }).end(body)
  if (kind === 'drawn') send('text/html', drawn(name))
  else if (kind === 'plain') setTimeout(() => send('text/html', plain(name)), PLAIN_MS)
  else if (kind === 'api')
    send('application/json', JSON.stringify(Array.from({ length: ITEMS }, (_, n) => `Item ${n} of ${name}`)))
  else if (kind === 'image') send('image/png', Buffer.alloc(IMAGE_BYTES))
  else if (kind === 'font') send('font/woff2', Buffer.alloc(IMAGE_BYTES))
  else answer.writeHead(404).end()
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
