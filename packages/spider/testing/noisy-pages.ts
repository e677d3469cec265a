/** Pages of shops and papers as their visitors get them: the same content, and around it something else each time. */

import { createHash } from 'node:crypto'

export interface Visit {
  readonly number: number
}

export interface PageMade {
  readonly html: string
}

type Layout = (page: number, visit: Visit, price: number) => PageMade

/** The same for a page, a visit and a purpose. */
function token(page: number, { number }: Visit, purpose: string): Buffer {
  return createHash('sha256').update(`${page}/${number}/${purpose}`).digest()
}

const hex = (page: number, visit: Visit, purpose: string) => token(page, visit, purpose).toString('hex')
const base64 = (page: number, visit: Visit, purpose: string) => token(page, visit, purpose).toString('base64')
const moment = (page: number, { number }: Visit) =>
  new Date(Date.UTC(2026, 0, number * 3, page % 24, number, page % 60))
const words = (page: number, count: number) =>
  Array.from(
    { length: count },
    (_, n) => ['oak', 'table', 'solid', 'chair', 'lamp', 'wool', 'green', 'large'][(page * 7 + n * 3) % 8],
  ).join(' ')
const links = (page: number, visit: Visit) =>
  [...token(page, visit, 'links')]
    .slice(0, 6)
    .map((n) => `<li><a href="/c/${n}?sid=${hex(page, visit, 'sid')}">Offer ${n}</a></li>`)
    .join('')

/** A shop as of today: elements that say what they are. */
const semantic: Layout = (page, visit, price) => ({
  html: `<!doctype html><html><head><title>Product ${page}</title><meta name="csrf-token" content="${hex(page, visit, 'csrf')}">
<script src="/app.${hex(page, visit, 'build').slice(0, 8)}.js"></script><script>window.__T=${moment(page, visit).getTime()}</script></head><body>
<header><a href="/">Shop</a><span>Basket (${visit.number})</span></header><nav><ul>${links(page, visit)}</ul></nav>
<main><h1>Product ${page}</h1><p>${words(page, 40)}</p><p class="price">€ ${price.toFixed(2)}</p>
<form action="/buy"><input type="hidden" name="token" value="${hex(page, visit, 'form')}"><button>Buy ${visit.number}</button></form>
<p>${visit.number * 17 + 3} people are viewing this</p></main>
<aside><h2>Others bought</h2><ul>${links(page, visit)}</ul></aside>
<footer>Rendered ${moment(page, visit).toISOString()} by ${hex(page, visit, 'host').slice(0, 12)}</footer></body></html>`,
})

/** A shop of ten years ago: blocks with names. */
const named: Layout = (page, visit, price) => ({
  html: `<html><body class="page"><div id="header"><div class="site-nav"><ul>${links(page, visit)}</ul></div></div>
<div class="breadcrumbs"><a href="/">Home</a> &gt; Offer ${visit.number}</div>
<div id="content"><div class="item"><h2>Product ${page}</h2><div>${words(page, 30)}</div><b>${price.toFixed(2)} EUR</b></div>
<p>Request id ${base64(page, visit, 'request')}</p></div><div class="sidebar"><div><div>${links(page, visit)}</div></div></div>
<div class="footer">Page generated at ${moment(page, visit).toISOString().slice(11, 19)} <!-- ${hex(page, visit, 'cache')} --></div></body></html>`,
})

/** A paper: an article among other things. */
const article: Layout = (page, visit, price) => ({
  html: `<body><div role="banner">Edition ${visit.number}</div><div role="navigation">${links(page, visit)}</div>
<article data-reactid="${hex(page, visit, 'react')}"><header><h1>Report ${page}</h1><time>updated: ${moment(page, visit).toISOString().slice(0, 10)}</time></header>
<p>${words(page, 60)}</p><p>Bread now costs ${price.toFixed(2)} francs.</p><p>${visit.number * 101} views, ${visit.number + 2} minutes ago</p></article>
<section class="cookie-consent">We have ${visit.number} cookies</section></body>`,
})

/** A page with its price where machines read it only. */
const structured: Layout = (page, visit, price) => ({
  html: `<html><body><main itemscope><h1 itemprop="name">Product ${page}</h1><div>${words(page, 25)}</div>
<meta itemprop="price" content="${price.toFixed(2)}"><script nonce="${base64(page, visit, 'nonce')}">let t = "${hex(page, visit, 'js')}"</script>
<noscript><img src="/pixel?${hex(page, visit, 'pixel')}"></noscript></main>
<script type="application/json">{"now":"${moment(page, visit).toISOString()}"}</script></body></html>`,
})

/** JSON-LD beside a page whose text a script makes. */
const linked: Layout = (page, visit, price) => ({
  html: `<html><body><div id="root" data-id="${hex(page, visit, 'root')}"><p>${words(page, 25)}</p></div>
<script type="application/ld+json">{"@type":"Product","name":"Product ${page}","dateModified":"${moment(page, visit).toISOString()}","offers":{"price":"${price.toFixed(2)}"}}</script>
<footer><ul>${links(page, visit)}</ul></footer></body></html>`,
})

/** A table of 1999. */
const table: Layout = (page, visit, price) => ({
  html: `<HTML><BODY BGCOLOR=white><TABLE><TR><TD CLASS=navigation>${links(page, visit)}</TD><TD><FONT SIZE=5>Product ${page}</FONT><BR>${words(page, 20)}<BR>
Price: $${price.toFixed(2)}<BR><SMALL>${moment(page, visit).toUTCString()}</SMALL></TD></TR></TABLE></BODY></HTML>`,
})

/** What a visitor of today sees beside a product: others at each visit, and their prices. */
const others = (page: number, visit: Visit) =>
  [...token(page, visit, 'others')]
    .slice(0, 4)
    .map((n) => `<div><a href="/p/${n}"><img src="/${n}.jpg"></a><b>€ ${n}.90</b></div>`)
    .join('')

const shop =
  (inside: (price: string) => string, head: (price: string) => string = () => ''): Layout =>
  (page, visit, price) => ({
    html: `<html><head><meta name="csrf-token" content="${hex(page, visit, 'csrf')}">${head(price.toFixed(2))}</head><body>
<header><a href="/">Shop</a><nav>${links(page, visit)}<a href="/sale">Sale from € ${visit.number}</a></nav></header>
<main><h1>Product ${page}</h1><p>${words(page, 30)}</p>${inside(price.toFixed(2))}
<aside>${others(page, visit)}</aside><div class="sidebar related"><a href="/p/1">Offer</a> € ${visit.number}</div></main>
<footer>${others(page, visit)} © at ${moment(page, visit).toISOString()}</footer></body></html>`,
  })

/** The price stands in what is left out of other pages, or in an attribute. */
const shops: readonly Layout[] = [
  shop((price) => `<div class="card"><div class="card-footer">€ ${price}</div></div>`),
  shop((price) => `<article>In stock<footer><span>${price}&nbsp;&euro;</span></footer></article>`),
  shop(
    (price) => `<aside class="buybox">$<b>${price}</b> <a href="/terms">Terms</a> <a>Wish list</a></aside>`,
  ),
  shop((price) => `<div class="product-sidebar"><b>CHF ${price}</b></div>`),
  shop((price) => `<select><option>Small – € ${price}</option><option>Large – € 900</option></select>`),
  shop((price) => `<button>Buy for ${price} kr</button>`),
  shop((price) => `<div data-product-price="${price}"></div>`),
  shop((price) => `<aside><meta itemprop="price" content="${price}"></aside>`),
  shop((price) => `<script type="application/ld+json; charset=utf-8">{"price":"${price}"}</script>`),
  shop(
    () => '',
    (price) =>
      `<script type="application/ld+json">{"@type":"Product","offers":[{"price":${price}}],"isRelatedTo":{"price":1}}</script>`,
  ),
  shop(
    () => '',
    (price) => `<meta property="product:price:amount" content="${price}">`,
  ),
]

/** The price stands beside the content that the page says it has. */
const beside: Layout = (page, visit, price) => ({
  html: `<body><main><h1>Product ${page}</h1>${words(page, 30)}</main><aside>€ ${price.toFixed(2)}</aside>
<aside>${others(page, visit)}</aside></body>`,
})

/** A product without an element that says so, beside an article that is none of it. */
const teaser: Layout = (page, _visit, price) => ({
  html: `<body><div id="product"><h1>Product ${page}</h1>${words(page, 30)} ${price.toFixed(2)}</div>
<article class="teaser">How to care for oak in the winter months and in spring</article></body>`,
})

export const LAYOUTS: readonly Layout[] = [
  ...[semantic, named, article, structured, linked, table],
  ...shops,
  ...[beside, teaser],
]
