import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { slugOf } from '../source/markdown.ts'
import { SEARCH } from '../source/search.ts'
import { searchSections } from '../source/search-sections.ts'
import { STAGE_FILE, type Stage } from '../source/staged.ts'
import { tableRows } from '../source/table-rows.ts'

const PAGES = join(import.meta.dirname, '../pages')
const { sidebars } = JSON.parse(readFileSync(join(PAGES, STAGE_FILE), 'utf8')) as Stage

export default defineConfig({
  title: 'Webloom',
  description: 'A distributed crawler framework for TypeScript.',
  lang: 'en',
  srcDir: 'pages',
  // Copies for machines, beside the pages.
  srcExclude: ['public/**'],
  outDir: 'dist',
  // Else every page carries the sidebars of all.
  metaChunk: true,
  // The search’s index is large, and is loaded when somebody searches.
  vite: { build: { chunkSizeWarningLimit: 4_000 } },
  markdown: {
    anchor: { slugify: slugOf },
    config: (markdown) => {
      markdown.use(tableRows)
    },
  },
  themeConfig: {
    nav: [
      { text: 'Tutorial', link: '/tutorial/', activeMatch: '^/tutorial/' },
      { text: 'Guides', link: '/guides/', activeMatch: '^/guides/' },
      { text: 'Concepts', link: '/concepts/', activeMatch: '^/concepts/' },
      { text: 'Reference', link: '/reference/', activeMatch: '^/reference/' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
    ],
    sidebar: structuredClone(sidebars) as Record<
      string,
      { text: string; items: { text: string; link: string }[] }[]
    >,
    outline: { level: [2, 3] },
    docFooter: { prev: 'Before', next: 'Next' },
    search: {
      provider: 'local',
      options: {
        detailedView: false,
        // Colours of code are half of the time that a page takes, and nobody searches for them.
        _render: (text, env, markdown) => {
          const { highlight = null } = markdown.options
          markdown.options.highlight = null
          try {
            return markdown.render(text, env)
          } finally {
            markdown.options.highlight = highlight
          }
        },
        miniSearch: {
          ...SEARCH,
          _splitIntoSections: (_, html) => searchSections(html),
        },
      },
    },
  },
})
