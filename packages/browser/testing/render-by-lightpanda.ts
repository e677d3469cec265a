/** Renders pages by a Lightpanda of its own, and prints what came, as JSON: `node render-by-lightpanda.ts`. */

import { spawn } from 'node:child_process'
import { Browsing, Site } from './browsing.ts'

const PORT = '9222'
const cdp = { BROWSER_CDP_URL: `http://127.0.0.1:${PORT}`, DOWNLOAD_TIMEOUT: 60 }
const trusted = { ...cdp, BROWSER_CDP_TRUSTED: true }

const program = spawn('lightpanda', ['serve', '--host', '127.0.0.1', '--port', PORT], { stdio: 'ignore' })
const isThere = () => fetch(`${cdp.BROWSER_CDP_URL}/json/version`).then(Boolean, () => false)
for (let looks = 0; looks < 300 && !(await isThere()); looks++) {
  // Waits: it tells nobody when it listens.
  await new Promise((resolve) => setTimeout(resolve, 100))
}

const site = await Site.start()
site.page('/api', (_, answer) => answer.end('drawn'))
site.page('/in', (asked, answer) => {
  const isSent = asked.url === '/in?user=me'
  answer.setHeader('content-type', 'text/html').end(`<p>${isSent ? 'sent' : asked.url}</p>`)
})
const drawn = site.html(
  '/drawn',
  '<p></p><script>fetch("/api").then((a) => a.text()).then((t) => { document.querySelector("p").textContent = t })</script>',
)
const form = site.html('/form', '<form action="/in"><input name=user><button>Go</button></form>')

async function failure(settings: object, visits: number): Promise<string> {
  await using browsing = await Browsing.open({ settings })
  const all = await Promise.allSettled(Array.from({ length: visits }, () => browsing.visit(drawn)))
  return all.map((one) => (one.status === 'rejected' ? String(one.reason) : '')).join('')
}

const refused = await failure(cdp, 1)
const crowded = await failure({ ...trusted, BROWSER_PAGES: 2 }, 2)
const browsing = await Browsing.open({ settings: { ...trusted, BROWSER_PAGES: 1 } })
const sent = { fill: { '[name=user]': 'me' }, click: 'button', waitFor: 'p' }
const texts: (string | undefined)[] = []
for (const [url, browser] of [
  [drawn, true],
  [drawn, { waitFor: 'p' }],
  [form, sent],
] as const) {
  const { text } = await browsing.visit(url, { meta: { browser } })
  texts.push(/<p>(.*?)<\/p>/.exec(text)?.[1])
}
await browsing.handler.idle()
console.log(JSON.stringify({ refused, crowded, texts, requests: browsing.stats.get('browser/requests') }))
await browsing[Symbol.asyncDispose]()
await site[Symbol.asyncDispose]()
program.kill()
