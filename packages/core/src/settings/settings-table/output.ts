import type { UsedSetting } from '../setting-row.ts'

/** Items and where they go. */
export const OUTPUT_SETTINGS = [
  {
    name: 'ITEM_PIPELINES',
    type: 'components',
    default: [],
    since: 'scrapy',
    summary: 'Item pipelines and their order: `[["./mine.ts#Mine", 300]]`.',
  },
  {
    name: 'DEFAULT_DROPITEM_LOG_LEVEL',
    type: 'enum',
    choices: ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'],
    synonyms: { WARN: 'WARNING', FATAL: 'CRITICAL' },
    default: 'WARNING',
    since: 'scrapy',
    summary: 'Level of the line about a dropped item whose DropItem names none.',
  },
  {
    name: 'FEEDS',
    type: 'dict',
    default: {},
    since: 'scrapy',
    summary:
      'Output files and their options: `{"out.jsonl": {"format": "jsonl", "overwrite": true}}`; `-o` adds one.',
  },
  {
    name: 'FEED_EXPORT_FIELDS',
    type: 'list-or-dict',
    nullable: true,
    default: null,
    since: 'scrapy',
    summary: 'Fields to write, in this order; as an object also their names in the output. null: all.',
  },
  {
    name: 'FEED_EXPORT_INDENT',
    type: 'int',
    unit: 'spaces',
    nullable: true,
    default: 0,
    min: 0,
    // What JSON.stringify takes at most; more would be cut silently.
    max: 10,
    since: 'scrapy',
    summary: 'Spaces of each level in JSON. 0: an item a line. null: all on one line.',
  },
  {
    name: 'FEED_STORE_EMPTY',
    type: 'bool',
    default: true,
    since: 'scrapy',
    summary: 'Writes the output file also when no item came.',
  },
] as const satisfies readonly UsedSetting[]
