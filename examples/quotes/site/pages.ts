import { type Author, type AuthorSlug, authors } from './authors.ts'
import { Html, html, nothing } from './html.ts'
import { type Quote, quotes, type Tag, tags } from './quotes.ts'

/** All pages by path. They are few, so they are made once, when the site starts. */
export function pagesByPath(): Map<string, string> {
  return new Map([
    ...quoteLists({ title: undefined, heading: intro(), path: '/', quotes }),
    ...tagNames.flatMap((tag) =>
      quoteLists({
        title: `Quotes about ${words(tag)}`,
        heading: tagHeading(tag),
        path: `/tag/${tag}/`,
        quotes: quotesAbout(tag),
      }),
    ),
    ...authorSlugs.map((slug): [string, string] => [`/author/${slug}/`, authorPage(slug)]),
    ['/author/', authorIndex()],
    ['/tag/', tagIndex()],
  ])
}

export function notFoundPage(path: string): string {
  return layout(
    'Not found',
    html`<h1>No such page</h1>
<p class="lead">There is nothing at <code>${path}</code>. <a href="/">Back to the quotes</a></p>`,
  )
}

const SITE_NAME = 'Warp & Weft'
const QUOTES_PER_PAGE = 8

const tagNames = Object.keys(tags) as Tag[]
const authorSlugs = Object.keys(authors) as AuthorSlug[]

interface QuoteList {
  /** Undefined for the site's own front page. */
  readonly title: string | undefined
  readonly heading: Html
  /** Of the first page; the others are below it, at `page/<n>/`. */
  readonly path: string
  readonly quotes: readonly Quote[]
}

function quoteLists(list: QuoteList): [string, string][] {
  const pageCount = Math.ceil(list.quotes.length / QUOTES_PER_PAGE)
  return Array.from({ length: pageCount }, (_, index) => {
    const page = index + 1
    const shown = list.quotes.slice(index * QUOTES_PER_PAGE, page * QUOTES_PER_PAGE)
    const title = [list.title, page > 1 && `page ${page}`].filter(Boolean).join(', ')
    const body = html`${list.heading}
${shown.map(quoteArticle)}
${pageCount > 1 ? pager(list.path, page, pageCount) : nothing}`
    return [pagePath(list.path, page), layout(title, body)]
  })
}

function pagePath(path: string, page: number): string {
  return page === 1 ? path : `${path}page/${page}/`
}

function pager(path: string, page: number, pageCount: number): Html {
  const previous = html`<a class="previous" rel="prev" href="${pagePath(path, page - 1)}">Previous</a>`
  const next = html`<a class="next" rel="next" href="${pagePath(path, page + 1)}">Next</a>`
  return html`<nav class="pager" aria-label="Pages">
${page > 1 ? previous : nothing}
<span class="position">Page ${page} of ${pageCount}</span>
${page < pageCount ? next : nothing}
</nav>`
}

function quoteArticle(quote: Quote): Html {
  return html`<article class="quote">
<p class="text">${quote.text}</p>
<p class="by">by <a class="author" href="/author/${quote.author}/">${authors[quote.author].name}</a></p>
<ul class="tags">
${quote.tags.map((tag) => html`<li><a href="/tag/${tag}/">${words(tag)}</a></li>`)}
</ul>
</article>`
}

function intro(): Html {
  return html`<h1>Small sayings from people who made things</h1>
<p class="lead">${quotes.length} remarks on patience, rivers and small tools, by ${authorSlugs.length} people who never lived.</p>`
}

function tagHeading(tag: Tag): Html {
  return html`<h1>About <span class="tag-name">${words(tag)}</span></h1>
<p class="lead"><span class="about">${tags[tag]}</span> <span class="count">${quotesAbout(tag).length} quotes</span></p>`
}

function authorPage(slug: AuthorSlug): string {
  const author: Author = authors[slug]
  return layout(
    author.name,
    html`<section class="author-details">
<h1 class="name">${author.name}</h1>
<dl>
<div><dt>Trade</dt><dd class="trade">${author.trade}</dd></div>
<div><dt>Born</dt><dd><time class="born" datetime="${author.born}">${longDate(author.born)}</time></dd></div>
<div><dt>Place</dt><dd class="place">${author.place}</dd></div>
</dl>
${author.life.map((paragraph) => html`<p class="life">${paragraph}</p>`)}
</section>
<h2>What was written down</h2>
${quotes.filter((quote) => quote.author === slug).map(quoteArticle)}`,
  )
}

function authorIndex(): string {
  const entries = authorSlugs.map((slug) => {
    const { name, trade, place } = authors[slug]
    return html`<li><a href="/author/${slug}/">${name}</a> <span>${trade}, ${place}</span></li>`
  })
  return layout('Authors', html`<h1>Authors</h1>\n<ul class="index">\n${entries}\n</ul>`)
}

function tagIndex(): string {
  const entries = tagNames.map(
    (tag) => html`<li><a href="/tag/${tag}/">${words(tag)}</a> <span>${tags[tag]}</span></li>`,
  )
  return layout('Tags', html`<h1>Tags</h1>\n<ul class="index">\n${entries}\n</ul>`)
}

function layout(title: string, body: Html): string {
  return html`${DOCTYPE}
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title ? `${title} – ${SITE_NAME}` : SITE_NAME}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" type="image/svg+xml" href="/favicon.svg">
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header class="site">
<a class="home" href="/">${SITE_NAME}</a>
<nav aria-label="Site"><a href="/author/">Authors</a> <a href="/tag/">Tags</a></nav>
</header>
<main>
${body}
</main>
<footer class="site">
<p>Every word and every author here was invented for this site, so that a crawler has something to read.</p>
</footer>
</body>
</html>
`.markup
}

const DOCTYPE = new Html('<!DOCTYPE html>')

function quotesAbout(tag: Tag): Quote[] {
  return quotes.filter((quote) => quote.tags.includes(tag))
}

function words(tag: Tag): string {
  return tag.replaceAll('-', ' ')
}

function longDate(day: string): string {
  return new Date(day).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
}
