/**
 * Where a page stands in the sidebar. A file in a section's folder is in that section; files that stand elsewhere are listed.
 * To add a page, add a file to a folder: nothing else is needed.
 */

export interface Section {
  readonly title: string
  /** All Markdown files of it, by `order` of their front matter, then by title. */
  readonly folder: string
  /** Files of other folders, before those of the folder, in this order. */
  readonly also?: readonly string[]
  readonly isCollapsed?: boolean
}

/** The page that opens the site. */
export const HOME = 'README.md'

/** In the order of the sidebar. */
export const SECTIONS: readonly Section[] = [
  {
    title: 'Tutorial',
    folder: 'docs/tutorial',
  },
  {
    title: 'Guides',
    folder: 'docs/guides',
    also: [
      'docs/from-scrapy.md',
      'docs/items.md',
      'docs/dupefilters.md',
      'docs/own-components.md',
      'docs/connections.md',
      'docs/hostile-web.md',
      'docs/deploy.md',
    ],
  },
  { title: 'Examples', folder: 'examples', isCollapsed: true },
  {
    title: 'Concepts',
    folder: 'docs/concepts',
    also: ['ARCHITECTURE.md', 'docs/guarantees.md', 'docs/performance.md'],
  },
  {
    title: 'Reference',
    folder: 'docs/reference',
    also: [
      'docs/settings.md',
      'docs/meta.md',
      'docs/stats.md',
      'docs/errors.md',
      'docs/redis-keys.md',
      'packages/selectors/README.md',
      'packages/url/README.md',
    ],
  },
  { title: 'Decisions', folder: 'docs/decisions', isCollapsed: true },
  {
    title: 'Project',
    folder: 'docs/project',
    also: [
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'tests/README.md',
      'tests/world/README.md',
      'benchmarks/README.md',
      'benchmarks/RESULTS.md',
    ],
    isCollapsed: true,
  },
]

/** Pages that stand in no section's folder and in no list go to this section. */
export const SECTION_OF_OTHERS = 'Guides'
export const OTHERS: readonly string[] = ['docs/**/*.md', 'packages/*/README.md']

/** What npm shows beside the package: the beginning of the home page. */
export const NO_PAGES: readonly string[] = ['packages/webloom/README.md']
