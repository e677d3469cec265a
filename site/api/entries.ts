import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What an `import` may name: a package, or a part of one such as `webloom/ports`. */
export interface Entry {
  readonly name: string
  /** Of the pages: `api/webloom-ports`. */
  readonly folder: string
  /** What the package says of itself. */
  readonly description: string
  /** Its declaration file. */
  readonly types: string
}

/** What authors of spiders and components import; the others are parts that `webloom` puts together. */
const FIRST = ['webloom', 'webloom/ports', 'webloom/testing', '@webloom/url', '@webloom/selectors']

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  webloom: 'What a spider needs.',
  'webloom/ports':
    'What components of your own need: middlewares, pipelines, dupefilters, handlers, extensions.',
  'webloom/testing': 'What tests of a spider need.',
}

interface PackageJson {
  readonly name: string
  readonly private?: boolean
  readonly description: string
  /** None of a package that is only run. */
  readonly exports?: Readonly<Record<string, { readonly types: string }>>
}

/** The entries of all packages that are published, those for authors first. */
export function publicEntries(root: string): Entry[] {
  const entries = globSync('packages/*/package.json', { cwd: root }).flatMap((path) => {
    const {
      name,
      private: isPrivate,
      description,
      exports = {},
    } = JSON.parse(readFileSync(join(root, path), 'utf8')) as PackageJson
    if (isPrivate) return []
    return Object.entries(exports).map(([part, { types }]) => {
      const entry = name + part.slice(1)
      return {
        name: entry,
        folder: `api/${entry.replace(/^@webloom\//, '').replaceAll('/', '-')}`,
        description:
          DESCRIPTIONS[entry] ?? (part === '.' ? sentence(description) : `Contract suites of ${name}.`),
        types: join(root, dirname(path), types),
      }
    })
  })
  const rank = ({ name }: Entry) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length)
  return entries.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, 'en'))
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`
}

export function isForAuthors({ name }: Entry): boolean {
  return FIRST.includes(name)
}
