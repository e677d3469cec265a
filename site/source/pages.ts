import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { summaryOf, titleOf } from './markdown.ts'
import { HOME, NO_PAGES, SECTIONS, type Section } from './sections.ts'

/** A Markdown file of the repository, and where it stands in the site. */
export interface Page {
  /** From the repository's root, with `/`. */
  readonly source: string
  /** From the site's root: `guides/items.md`. */
  readonly path: string
  readonly title: string
  /** Its first paragraph, as one line. */
  readonly summary: string
  readonly body: string
}

/** A section with its pages, in the order of the sidebar. */
export interface FilledSection {
  readonly title: string
  readonly isCollapsed: boolean
  /** What its folder's own README.md says. It lists the pages; they have its order. */
  readonly index?: Page
  readonly pages: readonly Page[]
}

export interface Site {
  readonly home: Page
  readonly sections: readonly FilledSection[]
}

/** Reads what the site shows of the repository. Throws when a page that a section lists is not there. */
export function readSite(root: string, sections: readonly Section[] = SECTIONS): Site {
  const named = new Set([...NO_PAGES, ...sections.flatMap(({ also = [] }) => also)])
  return {
    home: readPage(root, HOME),
    sections: sections
      .map((section) => filled(root, section, named))
      .filter(({ index, pages }) => index !== undefined || pages.length > 0),
  }
}

/** Every page once, in the order of the sidebar. */
export function pagesOf({ home, sections }: Site): Page[] {
  return [home, ...sections.flatMap(({ index, pages }) => (index ? [index, ...pages] : [...pages]))]
}

function filled(
  root: string,
  { title, folder, also = [], isCollapsed = false }: Section,
  named: ReadonlySet<string>,
): FilledSection {
  const own = `${folder}/README.md`
  const index = existsSync(join(root, own)) ? readPage(root, own) : undefined
  const inFolder = filesOf(root, `${folder}/**/*.md`).filter((path) => path !== own && !named.has(path))
  const elsewhere = also.flatMap((source) =>
    source.includes('*')
      ? filesOf(root, source).filter((path) => !named.has(path))
      : [thereOrThrow(root, source, title)],
  )
  const pages = [...inFolder, ...elsewhere].map((source) => readPage(root, source))
  return index ? { title, isCollapsed, index, pages: inOrderOf(index, pages) } : { title, isCollapsed, pages }
}

function thereOrThrow(root: string, source: string, title: string): string {
  if (existsSync(join(root, source))) return source
  throw new Error(
    `${source} is not there, and the section “${title}” lists it. When it has moved into the section’s folder, take it off the list in site/source/sections.ts`,
  )
}

/** Pages that the index does not link come last. */
function inOrderOf(index: Page, pages: readonly Page[]): Page[] {
  const links = [...linksOf(index)]
  const place = ({ source }: Page) => (links.includes(source) ? links.indexOf(source) : links.length)
  return pages.toSorted((a, b) => place(a) - place(b))
}

/** The files that a page links, from the repository's root, in the order of the page. */
export function linksOf({ source, body }: Page): Set<string> {
  const targets = [...body.matchAll(/\]\(([^()\s#]+)(?:#[^()\s]*)?\)/g)].map(([, target]) => target!)
  return new Set(targets.map((target) => posix.join(posix.dirname(source), target)))
}

function readPage(root: string, source: string): Page {
  const body = readFileSync(join(root, source), 'utf8')
  return {
    source,
    path: pathOf(source),
    title: titleOf(body) ?? basename(source, '.md'),
    summary: summaryOf(body),
    body,
  }
}

/** `docs/items.md` is `items.md`; a folder's README.md opens the folder. */
export function pathOf(source: string): string {
  const path = source.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md')
  return posix.join(posix.dirname(path), posix.basename(path).toLowerCase())
}

function filesOf(root: string, pattern: string): string[] {
  return globSync(pattern, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
}
