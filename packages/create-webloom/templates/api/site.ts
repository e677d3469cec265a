/** The small API that `npm start` crawls before you have changed anything. Delete this file when your spider has its own. */
import { readFileSync } from 'node:fs'
import { type Request, Response } from 'webloom'

/** The answers by path and query. The first one is also that of the test. */
const answers: Record<string, string> = {
  '/quotes?page=1': readFileSync(new URL('page.json', import.meta.url), 'utf8'),
  '/quotes?page=2': JSON.stringify({
    quotes: [
      { text: 'A number without its unit is a rumour.', author: { name: 'Ada Brook' } },
      { text: 'What is counted twice is known once.', author: { name: 'Ines Falk' } },
    ],
    next: null,
  }),
}

/** A downloader middleware: whatever it returns for a request is taken as the answer, and nothing is fetched. */
export class BundledApi {
  processRequest(request: Request) {
    const { hostname, pathname, search } = new URL(request.url)
    if (hostname !== 'api.test') return undefined
    const answer = answers[pathname + search]
    return new Response(request.url, {
      request,
      status: answer === undefined ? 404 : 200,
      headers: { 'content-type': 'application/json' },
      body: answer ?? '{"error":"there is no such page"}',
    })
  }
}
