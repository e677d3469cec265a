import { type Entry, isForAuthors } from '../api/entries.ts'
import { type Exported, KINDS } from '../api/exports.ts'
import type { Site } from './pages.ts'

/** A group of the sidebar, as VitePress’s theme takes it. */
export interface Group {
  readonly text: string
  readonly link?: string
  readonly collapsed?: boolean
  readonly items: readonly { readonly text: string; readonly link: string }[]
}

/**
 * The sidebar of the docs, and one for each entry of the API: a sidebar is a part of each page that it stands beside, and
 * one of all exports would be most of the site.
 */
export function sidebars(
  site: Site,
  entries: readonly Entry[],
  exports: readonly Exported[],
): Record<string, Group[]> {
  const api = entries.map((entry) => [`/${entry.folder}/`, apiGroups(entry, entries, exports)] as const)
  return Object.fromEntries([
    ...api,
    ['/', [...site.sections.map(docsGroup), { text: 'API', link: '/api/', items: entryItems(entries) }]],
  ])
}

function docsGroup({ title, isCollapsed, index, pages }: Site['sections'][number]): Group {
  const items = pages.map(({ title: text, path }) => ({ text, link: `/${path}` }))
  return {
    text: title,
    ...(index && { link: `/${index.path}` }),
    collapsed: isCollapsed,
    items,
  }
}

function entryItems(entries: readonly Entry[]): Group['items'] {
  return entries.filter(isForAuthors).map(({ name, folder }) => ({ text: name, link: `/${folder}/` }))
}

function apiGroups(entry: Entry, entries: readonly Entry[], exports: readonly Exported[]): Group[] {
  const own = exports.filter((one) => one.entry.name === entry.name)
  const kinds = KINDS.map(([kind, text]) => ({
    text,
    collapsed: false,
    items: own
      .filter((one) => one.kind === kind)
      .map(({ name, path }) => ({ text: name, link: `/${path}` }))
      .sort((a, b) => a.text.localeCompare(b.text, 'en')),
  })).filter(({ items }) => items.length > 0)
  const others = isForAuthors(entry) ? entryItems(entries) : allItems(entries)
  return [
    { text: 'API', link: '/api/', collapsed: true, items: others },
    { text: entry.name, link: `/${entry.folder}/`, items: [] },
    ...kinds,
  ]
}

function allItems(entries: readonly Entry[]): Group['items'] {
  return entries.map(({ name, folder }) => ({ text: name, link: `/${folder}/` }))
}
