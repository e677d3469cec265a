/** The small site that is crawled before you have changed anything. Delete this file when your spider has its own. */
import { type Request, Response } from 'webloom'

const authors = ['Ada Brook', 'Ines Falk', 'Tomas Reed', 'Lena Moor', 'Karl Ash', 'Mia Stone']
const pagesMax = 20

/** A list page: a quote of each author, and the way on. */
export function listPage(number: number): string {
  const quotes = authors.map((name, index) => quote(`Line ${number} of book ${index + 1}.`, name))
  return page(
    number < pagesMax ? [...quotes, `<p class="next"><a href="/page/${number + 1}">Next</a></p>`] : quotes,
  )
}

function authorPage(name: string): string {
  return page([quote(`I am ${name}, and this is my own page.`, name)])
}

function quote(text: string, author: string): string {
  const link = `<a href="/author/${encodeURIComponent(author)}">${author}</a>`
  return `<div class="quote"><p class="text">${text}</p><p class="author">${link}</p></div>`
}

function page(parts: readonly string[]): string {
  return `<!doctype html><title>Quotes</title>${parts.join('\n')}`
}

/** A downloader middleware: whatever it returns for a request is taken as the answer, and nothing is fetched. */
export class BundledSite {
  processRequest(request: Request) {
    const { hostname, pathname } = new URL(request.url)
    if (hostname !== 'quotes.test') return undefined
    const [, kind, which = '1'] = decodeURIComponent(pathname).split('/')
    const body = kind === 'author' ? authorPage(which) : listPage(Number(which))
    return new Response(request.url, {
      request,
      headers: { 'content-type': 'text/html; charset=utf-8' },
      body,
    })
  }
}
