import { posix } from 'node:path'
import { packageSources } from '../files/source-files.ts'

/** Which of our packages each package's sources may import. Tests may import any. */
const ALLOWED: Readonly<Record<string, readonly string[] | 'all'>> = {
  url: [],
  selectors: ['url'],
  core: ['url'],
  testkit: [],
  dupefilter: ['core'],
  queue: ['core'],
  scheduler: ['core'],
  downloader: ['core'],
  spider: ['core', 'selectors', 'url'],
  browser: ['core'],
  dashboard: ['core'],
  webloom: 'all',
  'create-webloom': [],
}

const SPECIFIER = /(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"]+)['"]/g

/** Imports that break the star: a sibling importing a sibling, core or testkit importing any of ours. */
export function importProblems(root: string): string[] {
  return packageSources(root, '{src,bin}/**/*.{ts,tsx,js}').flatMap(({ path, text }) =>
    [...text.matchAll(SPECIFIER)].flatMap(([, specifier]) => problemOf(path, specifier!)),
  )
}

function problemOf(path: string, specifier: string): string[] {
  const home = path.split('/')[1]!
  const allowed = ALLOWED[home]
  if (allowed === undefined)
    return [`${path}: package ${home} has no row in ${import.meta.filename.split('/').at(-1)}`]
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(path), specifier)
    return target.startsWith(`packages/${home}/`)
      ? []
      : [`${path} imports ${specifier}, which is outside its package`]
  }
  const ours = /^@webloom\/([^/]+)|^(webloom)(?:\/|$)/.exec(specifier)
  const target = ours?.[1] ?? ours?.[2]
  if (target === undefined || allowed === 'all' || allowed.includes(target)) return []
  return [
    `${path} imports ${specifier}; ${home} may import ${allowed.map((name) => `@webloom/${name}`).join(', ') || 'none of ours'}`,
  ]
}
