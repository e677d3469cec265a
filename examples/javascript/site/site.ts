/** A shop whose pages are empty until their scripts have run: a list that grows as one scrolls, and a page for each lamp. */

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Lamp {
  readonly name: string
  readonly price: number
}

export const LAMPS: readonly Lamp[] = Array.from({ length: 11 }, (_, index) => ({
  name: `Lamp ${index + 1}`,
  price: 20 + ((index * 7) % 50),
}))

const PER_REQUEST = 4

const LIST = `<!doctype html><meta charset="utf-8"><title>Lamps</title>
<style>.lamp { height: 300px }</style><h1>Lamps</h1><div id="lamps"></div>
<script>
let from = 0, isLoading = false
async function more() {
  if (isLoading || from < 0) return
  isLoading = true
  const { lamps, next } = await (await fetch('/api/lamps?from=' + from)).json()
  for (const { id, name } of lamps) {
    const link = Object.assign(document.createElement('a'), { href: '/lamp/' + id, textContent: name })
    lampsOf.append(Object.assign(document.createElement('div'), { className: 'lamp' }))
    lampsOf.lastChild.append(link)
  }
  from = next
  isLoading = false
}
const lampsOf = document.getElementById('lamps')
addEventListener('scroll', () => { if (innerHeight + scrollY > document.body.scrollHeight - 100) more() })
more()
</script>`

const LAMP = `<!doctype html><meta charset="utf-8"><title>A lamp</title><main></main>
<script>
fetch('/api' + location.pathname).then((answer) => answer.json()).then(({ name, price }) => {
  document.querySelector('main').innerHTML = '<h1></h1><p class="price"></p>'
  document.querySelector('h1').textContent = name
  document.querySelector('.price').textContent = price + ' €'
})
</script>`

export interface JavaScriptSite extends AsyncDisposable {
  readonly url: string
}

export async function startSite(port = 0): Promise<JavaScriptSite> {
  const server = createServer(({ url = '/' }, answer) => answered(new URL(url, 'http://site/'), answer))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function answered({ pathname, searchParams }: URL, answer: ServerResponse): void {
  const lamp = LAMPS[Number(/\/lamp\/(\d+)$/.exec(pathname)?.[1])]
  if (pathname === '/') answer.setHeader('content-type', 'text/html').end(LIST)
  else if (pathname === '/api/lamps') json(answer, listFrom(Number(searchParams.get('from'))))
  else if (lamp && pathname.startsWith('/api/')) json(answer, lamp)
  else if (lamp) answer.setHeader('content-type', 'text/html').end(LAMP)
  else answer.writeHead(404).end()
}

function listFrom(from: number): object {
  const lamps = LAMPS.slice(from, from + PER_REQUEST).map(({ name }, index) => ({ id: from + index, name }))
  return { lamps, next: from + PER_REQUEST < LAMPS.length ? from + PER_REQUEST : -1 }
}

function json(answer: ServerResponse, value: object): void {
  answer.setHeader('content-type', 'application/json').end(JSON.stringify(value))
}
