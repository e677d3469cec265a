/**
 * Where a page stands in the sidebar. A file in a section's folder is in that section; files that stand elsewhere are listed.
 * To add a page, add a file to a folder, and its line to the README.md there: it opens the section, and the sidebar has its order.
 */

export interface Section {
  readonly title: string
  /** All Markdown files of it, in the order in which its README.md links them. */
  readonly folder: string
  /** Files of other folders. A pattern with `*` stands for those that no section names. */
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
      'docs/items.md',
      'docs/dupefilters.md',
      'docs/own-components.md',
      'docs/connections.md',
      'docs/hostile-web.md',
      'docs/scale.md',
      'docs/deploy.md',
      'docs/operate.md',
      'docs/from-scrapy.md',
      'packages/create-webloom/README.md',
    ],
  },
  { title: 'Examples', folder: 'examples', isCollapsed: true },
  {
    title: 'Concepts',
    folder: 'docs/concepts',
    also: ['docs/guarantees.md', 'docs/performance.md'],
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
      'docs/terminal.md',
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
      'ARCHITECTURE.md',
      'CONTRIBUTING.md',
      'docs/releasing.md',
      'site/README.md',
      'tests/README.md',
      'tests/world/README.md',
      'benchmarks/README.md',
      'benchmarks/RESULTS.md',
      'packages/*/README.md',
    ],
    isCollapsed: true,
  },
]

/** What npm shows beside the package: the beginning of the home page. */
export const NO_PAGES: readonly string[] = ['packages/webloom/README.md']
