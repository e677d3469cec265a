import type { UsedSetting } from '../setting-row.ts'

/** The pipeline `files`. */
export const MEDIA_SETTINGS = [
  {
    name: 'FILES_STORE',
    type: 'string',
    nullable: true,
    default: null,
    since: 'scrapy',
    summary: 'Folder for what the pipeline `files` downloads; several workers may share it.',
  },
  {
    name: 'FILES_URLS_FIELD',
    type: 'string',
    default: 'file_urls',
    since: 'scrapy',
    summary: 'Field of an item that holds the URLs of its files.',
  },
  {
    name: 'FILES_RESULT_FIELD',
    type: 'string',
    default: 'files',
    since: 'scrapy',
    summary: 'Field that gets `{url, path, checksum, status}` of each file that was stored.',
  },
  {
    name: 'FILES_EXPIRES',
    type: 'int',
    unit: 'days',
    default: 90,
    min: 0,
    since: 'scrapy',
    summary: 'A file in the store that is younger than this is not fetched again.',
  },
  {
    name: 'MEDIA_ALLOW_REDIRECTS',
    type: 'bool',
    default: false,
    since: 'scrapy',
    summary: 'Follows redirects of files. false: a redirected file fails.',
  },
  {
    name: 'CONCURRENT_MEDIA',
    type: 'int',
    unit: 'downloads',
    default: 16,
    min: 1,
    since: 'webloom',
    summary: 'Most files that a process downloads at once, beside CONCURRENT_REQUESTS.',
  },
] as const satisfies readonly UsedSetting[]
