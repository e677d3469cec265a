/** What the shop has for programs: its sitemaps, its API, its robots.txt. */

import { BOOKS, type Book, CATEGORIES } from './books.ts'
import { bookPath } from './pages.ts'

const BOOKS_PER_ANSWER = 10

/** An index and two sitemaps, by path. Sitemaps have whole URLs, so the shop's address goes in. */
export function sitemapsByPath(origin: string): Map<string, string> {
  const url = (path: string, day: string) => `<url><loc>${origin}${path}</loc><lastmod>${day}</lastmod></url>`
  const books = BOOKS.map((book) => url(bookPath(book), changedOn(book)))
  const others = ['/about/', ...CATEGORIES.map((name) => `/${name}/`)].map((path) => url(path, '2026-01-01'))
  const sitemaps = ['/sitemap-books.xml', '/sitemap-others.xml']
  const index = sitemaps.map((path) => `<sitemap><loc>${origin}${path}</loc></sitemap>`)
  return new Map([
    ['/sitemap.xml', `<sitemapindex ${XMLNS}>${index.join('')}</sitemapindex>`],
    ['/sitemap-books.xml', `<urlset ${XMLNS}>${books.join('\n')}</urlset>`],
    ['/sitemap-others.xml', `<urlset ${XMLNS}>${others.join('\n')}</urlset>`],
  ])
}

const XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'

/** Half of the books in 2025, the others in 2026. */
export function changedOn({ number }: Book): string {
  return `${number % 2 === 0 ? 2025 : 2026}-03-${String((number % 28) + 1).padStart(2, '0')}`
}

export function robotsTxt(origin: string): string {
  return `User-agent: *\nDisallow: /basket/\nSitemap: ${origin}/sitemap.xml\n`
}

/** The books after one, and where the next ones are: null at the end. */
export function booksAnswer(after: number) {
  const books = BOOKS.filter(({ number }) => number > after).slice(0, BOOKS_PER_ANSWER)
  const last = books.at(-1)?.number ?? BOOKS.length
  return {
    books: books.map(({ number, title, author, price }) => ({ number, title, author, price })),
    next: last < BOOKS.length ? `/api/books?after=${last}` : null,
  }
}

/** How many there are of each book that is asked for. */
export function stockAnswer(numbers: readonly unknown[]) {
  const asked = BOOKS.filter(({ number }) => numbers.includes(number))
  return { stock: Object.fromEntries(asked.map(({ number, stock }) => [number, stock])) }
}
