import type { Target } from '../graph/graph.ts'
import { pathOf, type Site, urlOf } from '../graph/urls.ts'
import { words } from './words.ts'

/** The links of a page as plain markup: root-relative on its own host, absolute to others. */
export function plainLinks(from: Target, links: readonly Target[], site: Site, random: () => number): string {
  const items = links.map(
    (link) => `<li><a href="${plainHref(from, link, site)}">${words(2, random)}</a></li>\n`,
  )
  return `<ul>\n${items.join('')}</ul>\n`
}

function plainHref(from: Target, link: Target, site: Site): string {
  return link.host === from.host ? pathOf(link, site.graph.plan) : urlOf(link, site)
}

/**
 * The same links as real pages write them: each in one of many forms, some twice, and between them what looks
 * like a link and is none (`mailto:`, a commented-out anchor, one inside a script).
 */
export function variedLinks(
  from: Target,
  links: readonly Target[],
  site: Site,
  random: () => number,
): string {
  const written = links.flatMap((link) => {
    const anchors = random() < REPEATED ? 2 : 1
    return Array.from({ length: anchors }, () => anchor(variedHref(from, link, site, random), random))
  })
  const pitfalls = PITFALLS.filter(() => random() < PITFALL)
  return `<nav>\n${[...written, ...pitfalls].join('\n')}\n</nav>\n`
}

const REPEATED = 0.15
const PITFALL = 0.3

/** What no crawler may follow. Were one followed, the log would show a hit on `/trap/…`. */
const PITFALLS = [
  '<a href="mailto:someone@example.com?subject=Hello&amp;body=World">write to us</a>',
  '<a href="tel:+15550100">call us</a>',
  '<a href="javascript:void(0)">menu</a>',
  '<a name="contents">contents</a>',
  '<!-- <a href="/trap/comment.html">retired</a> -->',
  `<script>const card = '<a href="/trap/script.html">card</a>'</script>`,
]

function variedHref(from: Target, link: Target, site: Site, random: () => number): string {
  const path = accented(pathOf(link, site.graph.plan), random)
  const absolute = site.origins[link.host] + path
  const anywhere = [absolute, absolute.replace(/^http:/, ''), `${absolute}#part-2`]
  if (link.host !== from.host) return one(anywhere, random)
  const fromPath = pathOf(from, site.graph.plan)
  const nearby = [path, `${path}#top`, relative(fromPath, path), detour(fromPath, path)]
  return one([...anywhere, ...nearby, ...nearby], random)
}

/** Half of the accents are written as they are spoken; a client must encode them as UTF-8. */
function accented(path: string, random: () => number): string {
  return random() < 0.5 ? path.replace('%C3%A9', 'é') : path
}

/** Paths have at most one folder, so one `../` is always enough. */
function relative(from: string, to: string): string {
  const [fromFolder, toFolder] = [folderOf(from), folderOf(to)]
  if (fromFolder === toFolder) return to.slice(toFolder.length) || '../'
  return (fromFolder === '/' ? '' : '../../') + to.slice(1)
}

/** A way round through a folder and back: `../s3/../s5/page-13.html`. */
function detour(from: string, to: string): string {
  return `${folderOf(from) === '/' ? '../' : '../../'}s3/../${to.slice(1)}`
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/', path.includes('?') ? path.indexOf('?') : path.length) + 1)
}

function anchor(href: string, random: () => number): string {
  // A bare `&section=` is legal here: inside an attribute `&sect` is not an entity when a letter follows it.
  const escaped = random() < 0.7 ? href.replaceAll('&', '&amp;') : href
  const text = words(2, random)
  return one(
    [
      `<a href="${escaped}">${text}</a>`,
      `<a class="next" href="${escaped}" rel="next">${text}</a>`,
      `<a href='${escaped}'><b>${text}</b></a>`,
      `<A HREF="${escaped}">${text}</A>`,
      `<a\n  href=" ${escaped} "\n>${text}</a>`,
      `<a href=${escaped} class=plain>${text}</a>`,
      `<map name="places"><area shape="default" href="${escaped}" alt="${text}"></map>`,
    ],
    random,
  )
}

function one<T>(choices: readonly T[], random: () => number): T {
  return choices[Math.floor(random() * choices.length)]!
}
