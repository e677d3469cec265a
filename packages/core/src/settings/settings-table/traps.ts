import type { UsedSetting } from '../setting-row.ts'

/** What keeps a crawl from sites that have no end. */
export const TRAP_SETTINGS = [
  {
    name: 'TRAP_CHAIN_MAX',
    type: 'int',
    unit: 'pages',
    default: 140,
    min: 0,
    since: 'webloom',
    summary:
      'Pages in a row that differ only in their query and bring neither new links nor new items (a calendar) before the chain is cut. 0: no limit.',
  },
  {
    name: 'TRAP_SEGMENT_REPEATS_MAX',
    type: 'int',
    unit: 'times',
    default: 3,
    min: 0,
    since: 'webloom',
    summary:
      'How often one segment may stand in the path of a link (`/a/b/a/b`); numbers do not count. 0: no limit.',
  },
  {
    name: 'TRAP_SEGMENTS_MAX',
    type: 'int',
    unit: 'segments',
    default: 20,
    min: 0,
    since: 'webloom',
    summary: 'The most segments in the path of a link. 0: no limit.',
  },
  {
    name: 'TRAP_PAGES_PER_HOST',
    type: 'int',
    unit: 'pages',
    default: 0,
    min: 0,
    since: 'webloom',
    summary: 'Pages of one host after which its links are dropped; each worker counts its own. 0: no limit.',
  },
  {
    name: 'TRAP_PAGES_PER_PATH',
    type: 'int',
    unit: 'pages',
    default: 0,
    min: 0,
    since: 'webloom',
    summary:
      'Pages of one path with different queries (facets) after which more of them are dropped; each worker counts its own. 0: no limit.',
  },
] as const satisfies readonly UsedSetting[]
