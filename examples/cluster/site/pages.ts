import { goesWith, MILLS, YARNS_PER_MILL, type Yarn, yarn } from './yarns.ts'

/** Where a mill is: `http://alder-mill.test:8000`, without a slash at the end. One for each of `MILLS`. */
export type Origins = readonly string[]

/** All pages by URL. They are few, so they are made once, when the site starts. */
export function pagesByUrl(origins: Origins): Map<string, string> {
  return new Map(
    MILLS.flatMap((_, mill) => {
      const numbers = Array.from({ length: YARNS_PER_MILL }, (_, number) => number)
      const pages = Array.from({ length: PAGES_PER_LIST }, (_, index) => index + 1)
      return [
        ...pages.map((page): [string, string] => [
          listUrl(origins, mill, page),
          listPage(origins, mill, page),
        ]),
        ...numbers
          .map((number) => yarn(mill, number))
          .map((one): [string, string] => [yarnUrl(origins, one), yarnPage(origins, one)]),
      ]
    }),
  )
}

const YARNS_PER_PAGE = 12
const PAGES_PER_LIST = Math.ceil(YARNS_PER_MILL / YARNS_PER_PAGE)

function listUrl(origins: Origins, mill: number, page: number): string {
  return `${origins[mill]}/${page === 1 ? '' : `page/${page}/`}`
}

function yarnUrl(origins: Origins, { mill, colour, fibre }: Yarn): string {
  return `${origins[mill]}/yarn/${colour}-${fibre}/`
}

function listPage(origins: Origins, mill: number, page: number): string {
  const first = (page - 1) * YARNS_PER_PAGE
  const count = Math.min(YARNS_PER_PAGE, YARNS_PER_MILL - first)
  const yarns = Array.from({ length: count }, (_, index) => yarn(mill, first + index))
  const next = `<p><a class="next" href="${listUrl(origins, mill, page + 1)}">More yarns</a></p>`
  return layout(
    page === 1 ? MILLS[mill]! : `${MILLS[mill]}, page ${page}`,
    `<ul class="yarns">\n${yarnLinks(origins, yarns)}\n</ul>
${page < PAGES_PER_LIST ? next : ''}
<p>Next door: ${millLink(origins, (mill + 1) % MILLS.length)}</p>`,
  )
}

function yarnPage(origins: Origins, one: Yarn): string {
  const { mill, colour, fibre, grams, price } = one
  return layout(
    `${colour} ${fibre}`,
    `<p>Spun at <a class="mill-name" href="${listUrl(origins, mill, 1)}">${MILLS[mill]}</a></p>
<dl>
<dt>Colour</dt><dd class="colour">${colour}</dd>
<dt>Fibre</dt><dd class="fibre">${fibre}</dd>
<dt>Grams</dt><dd class="grams">${grams}</dd>
<dt>Price</dt><dd class="price">${price.toFixed(2)}</dd>
</dl>
<h2>Goes with</h2>
<ul class="goes-with">\n${yarnLinks(origins, goesWith(one))}\n</ul>`,
  )
}

function yarnLinks(origins: Origins, yarns: readonly Yarn[]): string {
  const link = (one: Yarn) =>
    `<li><a href="${yarnUrl(origins, one)}">${one.colour} ${one.fibre}</a>, ${MILLS[one.mill]}</li>`
  return yarns.map(link).join('\n')
}

function millLink(origins: Origins, mill: number): string {
  return `<a class="mill" href="${listUrl(origins, mill, 1)}">${MILLS[mill]}</a>`
}

function layout(title: string, body: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body>
<h1>${title}</h1>
${body}
</body>
</html>
`
}
