import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { bodyOf, frontMatterOf, summaryOf, titleOf } from './markdown.ts'
import { HOME, NO_PAGES, OTHERS, SECTION_OF_OTHERS, SECTIONS, type Section } from './sections.ts'

/** A Markdown file of the repository, and where it stands in the site. */
export interface Page {
  /** From the repository's root, with `/`. */
  readonly source: string
  /** From the site's root: `guides/items.md`. */
  readonly path: string
  readonly title: string
  /** Its first paragraph, as one line. */
  readonly summary: string
  /** Without its front matter. */
  readonly body: string
}

/** A section with its pages, in the order of the sidebar. */
export interface FilledSection {
  readonly title: string
  readonly isCollapsed: boolean
  /** What its folder's own README.md says. */
  readonly index?: Page
  readonly pages: readonly Page[]
}

export interface Site {
  readonly home: Page
  readonly sections: readonly FilledSection[]
}

/** Reads what the site shows of the repository. Throws when a page that a section lists is not there. */
export function readSite(root: string, sections: readonly Section[] = SECTIONS): Site {
  const listed = new Set(sections.flatMap(({ also = [] }) => also))
  const inFolders = new Set(sections.flatMap(({ folder }) => markdownIn(root, folder)))
  const others = filesOf(root, OTHERS).filter(
    (source) => !listed.has(source) && !inFolders.has(source) && !NO_PAGES.includes(source),
  )
  return {
    home: readPage(root, HOME),
    sections: sections
      .map((section) => filled(root, section, listed, section.title === SECTION_OF_OTHERS ? others : []))
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
  listed: ReadonlySet<string>,
  others: readonly string[],
): FilledSection {
  const own = `${folder}/README.md`
  const first = also.map((source) => listedPage(root, source, title))
  const rest = [...markdownIn(root, folder), ...others]
    .filter((source) => source !== own && !listed.has(source))
    .map((source) => readPage(root, source))
    .sort(byOrderAndTitle(root))
  const pages = [...first, ...rest]
  return existsSync(join(root, own))
    ? { title, isCollapsed, index: readPage(root, own), pages }
    : { title, isCollapsed, pages }
}

function listedPage(root: string, source: string, title: string): Page {
  if (existsSync(join(root, source))) return readPage(root, source)
  throw new Error(
    `${source} is not there, and the section “${title}” lists it. When it has moved into the section’s folder, take it off the list in site/source/sections.ts`,
  )
}

function byOrderAndTitle(root: string) {
  const order = ({ source }: Page) => {
    const written = Number(frontMatterOf(readFileSync(join(root, source), 'utf8')).order)
    return Number.isFinite(written) ? written : Number.MAX_VALUE
  }
  return (a: Page, b: Page) => order(a) - order(b) || a.title.localeCompare(b.title, 'en')
}

function readPage(root: string, source: string): Page {
  const text = readFileSync(join(root, source), 'utf8')
  const body = bodyOf(text)
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

function markdownIn(root: string, folder: string): string[] {
  return filesOf(root, [`${folder}/**/*.md`])
}

function filesOf(root: string, patterns: readonly string[]): string[] {
  return globSync(patterns, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
}
