/** The small site that `npm start` crawls before you have changed anything. Delete this file when your spider has its own. */
import { readFileSync } from 'node:fs'
import { type Request, Response } from 'webloom'

/** The pages by path. The first one is also the page of the test. */
const pages: Record<string, string> = {
  '/': readFileSync(new URL('page.html', import.meta.url), 'utf8'),
  '/page/2/': `<!doctype html>
    <title>Quotes, page 2</title>
    <div class="quote">
      <span class="text">“A page that nobody links to is a letter that nobody sent.”</span>
      <small class="author">Ada Brook</small>
      <span class="tag">pages</span> <span class="tag">links</span>
    </div>
    <div class="quote">
      <span class="text">“Ask once, and remember the answer.”</span>
      <small class="author">Tomas Reed</small>
      <span class="tag">memory</span>
    </div>
    <li class="next"><a href="/page/3/">Next</a></li>`,
  '/page/3/': `<!doctype html>
    <title>Quotes, page 3</title>
    <div class="quote">
      <span class="text">“The last page is where the patient ones meet.”</span>
      <small class="author">Ines Falk</small>
      <span class="tag">patience</span>
    </div>`,
}

/** A downloader middleware: whatever it returns for a request is taken as the answer, and nothing is fetched. */
export class BundledSite {
  processRequest(request: Request) {
    const { hostname, pathname } = new URL(request.url)
    if (hostname !== 'quotes.test') return undefined
    const page = pages[pathname]
    return new Response(request.url, {
      request,
      status: page === undefined ? 404 : 200,
      headers: { 'content-type': 'text/html; charset=utf-8' },
      body: page ?? 'There is no such page.',
    })
  }
}
