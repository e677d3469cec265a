/** The small site that `npm start` crawls before you have changed anything. Delete this file when your spider has its own. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const names = 'Arc Banker Candle Desk Easel Floor Globe Hall Ivory Jute Kite Lava'.split(' ')
const perRequest = 5

/** The list: its script asks for lamps, and for more whenever somebody has scrolled down to its end. */
const list = `<!doctype html>
<meta charset="utf-8">
<title>Lamps</title>
<style>.lamp { height: 200px }</style>
<main></main>
<script>
  let from = 0, isLoading = false
  async function more() {
    if (isLoading || from === null) return
    isLoading = true
    const { lamps, next } = await (await fetch('/api/lamps?from=' + from)).json()
    for (const { id, name } of lamps)
      document.querySelector('main').insertAdjacentHTML('beforeend', '<div class="lamp"><a href="/lamp/' + id + '">' + name + '</a></div>')
    from = next
    isLoading = false
  }
  addEventListener('scroll', () => { if (innerHeight + scrollY > document.body.scrollHeight - 50) more() })
  more()
</script>`

/** What the script asks for. */
function lampsFrom(from: number): string {
  const lamps = names.map((name, id) => ({ id, name: `${name} lamp` })).slice(from, from + perRequest)
  const next = from + perRequest
  return JSON.stringify({ lamps, next: next < names.length ? next : null })
}

function lampPage(id: number): string | undefined {
  const name = names[id]
  if (name === undefined) return undefined
  return `<!doctype html><title>${name} lamp</title><h1>${name} lamp</h1><p class="price">${30 + 5 * id} €</p>`
}

function answerTo({ pathname, searchParams }: URL): string | undefined {
  if (pathname === '/') return list
  if (pathname === '/api/lamps') return lampsFrom(Number(searchParams.get('from')))
  return lampPage(Number(/^\/lamp\/(\d+)$/.exec(pathname)?.[1]))
}

// A browser wants a real server, if only on this machine. It does not keep the process: when the crawl is over it ends, too.
const server = createServer((request, response) => {
  const answer = answerTo(new URL(request.url ?? '/', 'http://lamps.test/'))
  const type = answer?.startsWith('{') ? 'application/json' : 'text/html; charset=utf-8'
  response.writeHead(answer === undefined ? 404 : 200, { 'content-type': type }).end(answer)
})
await once(server.listen(0, '127.0.0.1'), 'listening')
server.unref()

export const siteUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
