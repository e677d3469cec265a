import { type Html, html, nothing } from '../quotes/site/html.ts'
import { BOOKS, type Book, CATEGORIES, CUSTOMER, ON_SALE, ORDERS, type Order } from './books.ts'

const BOOKS_PER_PAGE = 12
const ORDERS_PER_PAGE = 5

/** All pages that are the same for everybody, by path. */
export function pagesByPath(): Map<string, string> {
  const pages = new Map<string, string>()
  addLists(pages, '/', 'All books', BOOKS)
  for (const category of CATEGORIES) {
    const books = BOOKS.filter((book) => book.category === category)
    addLists(pages, `/${category}/`, category, books)
  }
  addLists(pages, '/sale/', 'Sale', ON_SALE, (book) => `/sale/p-${book.number}.html?from=sale`)
  addLists(pages, '/crowded/', 'Crowded', ON_SALE, (book) => `/crowded/p-${book.number}.html`)
  for (const book of BOOKS) pages.set(bookPath(book), bookPage(book))
  for (const book of ON_SALE) {
    pages.set(`/sale/p-${book.number}.html`, bookPage(book))
    pages.set(`/crowded/p-${book.number}.html`, bookPage(book))
  }
  pages.set('/about/', layout('About', html`<p>A shop that was invented for examples.</p>`))
  return pages
}

export function bookPath({ category, number }: Book): string {
  return `/${category}/p-${number}.html`
}

function addLists(
  pages: Map<string, string>,
  path: string,
  title: string,
  books: readonly Book[],
  pathOf = bookPath,
): void {
  const last = Math.ceil(books.length / BOOKS_PER_PAGE)
  const listPath = (page: number) => (page === 1 ? path : `${path}page-${page}.html`)
  for (let page = 1; page <= last; page++) {
    const shown = books.slice((page - 1) * BOOKS_PER_PAGE, page * BOOKS_PER_PAGE)
    pages.set(
      listPath(page),
      layout(
        title,
        html`<ol class="books">${shown.map((book) => bookInList(book, pathOf(book)))}</ol>
${page < last ? nextLink(listPath(page + 1)) : nothing}`,
      ),
    )
  }
}

function bookInList({ title, price }: Book, path: string): Html {
  return html`<li class="book"><h3><a href="${path}">${title}</a></h3> <p class="price">£${price.toFixed(2)}</p></li>`
}

function nextLink(path: string): Html {
  return html`<p><a class="next" href="${path}">Next</a></p>`
}

function bookPage({ number, title, author, category, price, stock }: Book): string {
  return layout(
    title,
    html`<img class="cover" src="/covers/${number}.png" alt="">
<p>by <span class="author">${author}</span>, in <a class="category" href="/${category}/">${category}</a></p>
<p class="price">£${price.toFixed(2)}</p>
<p class="stock">${stock} in stock</p>
<p><a href="/basket/?add=${number}">Add to basket</a></p>`,
  )
}

/** The form has a hidden token, as most have: without it the shop takes nobody in. */
export function loginPage(token: string, problem = ''): string {
  return layout(
    'Log in',
    html`<form action="/login/" method="post">
${problem === '' ? nothing : html`<p class="problem">${problem}</p>`}
<input type="hidden" name="csrf_token" value="${token}">
<label>Name <input name="username"></label>
<label>Password <input type="password" name="password"></label>
<button name="do" value="log-in">Log in</button>
</form>
<p>The only customer is ${CUSTOMER.name}, with the password ${CUSTOMER.password}.</p>`,
  )
}

/** Undefined when there are not so many orders. */
export function ordersPage(page: number): string | undefined {
  const shown = ORDERS.slice((page - 1) * ORDERS_PER_PAGE, page * ORDERS_PER_PAGE)
  if (shown.length === 0) return undefined
  const row = ({ number, book, total }: Order) =>
    html`<tr class="order"><td class="number">${number}</td><td class="title">${book}</td><td class="total">£${total.toFixed(2)}</td></tr>`
  const isLast = page * ORDERS_PER_PAGE >= ORDERS.length
  return layout(
    'Your orders',
    html`<p class="customer">${CUSTOMER.name}</p>
<table>${shown.map(row)}</table>
${isLast ? nothing : nextLink(`/orders/?page=${page + 1}`)}`,
  )
}

/** What a shop shows that has too many visitors, with status 200: no retry by status notices. */
export function busyPage(): string {
  return layout('One moment', html`<p class="busy">Too many visitors. Please try again.</p>`)
}

export function notFoundPage(path: string): string {
  return layout('Not found', html`<p>There is no ${path} in this shop.</p>`)
}

function layout(title: string, body: Html): string {
  const categories = CATEGORIES.map((name) => html`<a href="/${name}/">${name}</a>`)
  return html`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>${title} – Bookshop</title></head>
<body>
<nav><a href="/">All books</a> ${categories} <a href="/sale/">Sale</a> <a href="/about/">About</a> <a href="/login/">Log in</a></nav>
<h1>${title}</h1>
${body}
</body></html>
`.markup
}
