/** What the search of the site finds: parts of pages, and rows of tables that have a name. */

import { unescaped } from './html-text.ts'

export interface SearchSection {
  readonly anchor: string
  /** Of the headings above it and its own. */
  readonly titles: string[]
  readonly text: string
}

const HEADING = /<h([1-6])[^>]*? id="([^"]*)"[^>]*>([\s\S]*?)<\/h\1>/g
const ROW = /<tr[^>]*? id="([^"]*)" data-names="([^"]*)"[^>]*>([\s\S]*?)<\/tr>/g

/** Cuts a page’s HTML at its headings and named rows. */
export function* searchSections(html: string): Generator<SearchSection> {
  const headings = [...html.matchAll(HEADING)]
  const above: string[] = []
  for (const [at, heading] of headings.entries()) {
    const level = Number(heading[1])
    above.length = Math.min(above.length, level - 1)
    above[level - 1] = plainText(heading[3]!.replace(/<a class="header-anchor"[\s\S]*?<\/a>/, ''))
    const titles = above.filter(Boolean)
    const content = html.slice(heading.index + heading[0].length, headings[at + 1]?.index ?? html.length)
    yield { anchor: heading[2]!, titles, text: plainText(content.replaceAll(ROW, '')) }
    for (const [, anchor = '', names = '', row = ''] of content.matchAll(ROW)) {
      const text = plainText(row)
      yield { anchor: unescaped(anchor), titles: [...titles, unescaped(names)], text }
    }
  }
}

function plainText(html: string): string {
  return unescaped(html.replaceAll(/<[^>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim()
}
