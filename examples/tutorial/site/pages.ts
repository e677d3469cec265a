import { type AuthorSlug, authors } from '../../quotes/site/authors.ts'
import { type Html, html, nothing } from '../../quotes/site/html.ts'
import { quotes } from '../../quotes/site/quotes.ts'

const QUOTES_PER_PAGE = 10

/** Every page by its path: the quotes of the other example, in the markup of quotes.toscrape.com. */
export function pagesByPath(): Map<string, string> {
  const pages = new Map<string, string>()
  addLists(pages, '/', quotes)
  for (const tag of new Set(quotes.flatMap((quote) => quote.tags))) {
    addLists(
      pages,
      `/tag/${tag}/`,
      quotes.filter(({ tags }) => tags.includes(tag)),
    )
  }
  for (const slug of Object.keys(authors) as AuthorSlug[]) pages.set(`/author/${slug}/`, authorPage(slug))
  return pages
}

type Quotes = typeof quotes

function addLists(pages: Map<string, string>, path: string, listed: Quotes): void {
  const last = Math.ceil(listed.length / QUOTES_PER_PAGE)
  const pathOf = (page: number) => (page === 1 ? path : `${path}page/${page}/`)
  for (let page = 1; page <= last; page++) {
    const shown = listed.slice((page - 1) * QUOTES_PER_PAGE, page * QUOTES_PER_PAGE)
    const next = page < last ? html`<li class="next"><a href="${pathOf(page + 1)}">Next</a></li>` : nothing
    pages.set(pathOf(page), document('Quotes', html`${shown.map(quoteBox)}<ul class="pager">${next}</ul>`))
  }
}

function quoteBox({ text, author, tags }: Quotes[number]): Html {
  return html`<div class="quote">
  <span class="text">“${text}”</span>
  <span>by <small class="author">${authors[author].name}</small> <a href="/author/${author}/">(about)</a></span>
  <div class="tags">Tags: ${tags.map((tag) => html`<a class="tag" href="/tag/${tag}/">${tag}</a>`)}</div>
</div>`
}

function authorPage(slug: AuthorSlug): string {
  const { name, born, place, life } = authors[slug]
  return document(
    name,
    html`<div class="author-details">
  <h3 class="author-title">${name}</h3>
  <p>Born: <span class="author-born-date">${born}</span> <span class="author-born-location">in ${place}</span></p>
  <div class="author-description">${life.join(' ')}</div>
</div>`,
  )
}

function document(title: string, body: Html): string {
  return html`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body>${body}</body></html>`.markup
}
