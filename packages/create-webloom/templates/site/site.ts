/** The small site that `npm start` crawls before you have changed anything. Delete this file when your spider has its own. */
import { readFileSync } from 'node:fs'
import { type Request, Response } from 'webloom'

const page = (name: string, links = '') =>
  `<title>${name} – The Yarn Shop</title><meta name="description" content="${name} of the shop."><h1>${name}</h1>${links}`

/** What the site has, by path: the page of the test, pages that it links, and one that only the sitemap knows. */
const files: Record<string, string> = {
  '/': page('Welcome', '<a href="/wool/">Wool</a> <a href="/linen/">Linen</a> <a href="/login">Log in</a>'),
  '/wool/': page('Wool', '<a href="/wool/grey-merino">Grey merino</a> <a href="/">Home</a>'),
  '/wool/grey-merino': readFileSync(new URL('page.html', import.meta.url), 'utf8'),
  '/linen/': page('Linen', '<a href="/wool/">Wool</a> <a href="/">Home</a>'),
  '/last-winter': page('Last winter'),
  '/sitemap.xml': `<?xml version="1.0" encoding="UTF-8"?>
    <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
      <url><loc>http://shop.test/wool/</loc></url>
      <url><loc>http://shop.test/last-winter</loc></url>
    </urlset>`,
}

/** A downloader middleware: whatever it returns for a request is taken as the answer, and nothing is fetched. */
export class BundledSite {
  processRequest(request: Request) {
    const { hostname, pathname } = new URL(request.url)
    if (hostname !== 'shop.test') return undefined
    const file = files[pathname]
    return new Response(request.url, {
      request,
      status: file === undefined ? 404 : 200,
      headers: { 'content-type': pathname.endsWith('.xml') ? 'application/xml' : 'text/html; charset=utf-8' },
      body: file ?? 'There is no such page.',
    })
  }
}
