import { matches, packageSources, textOf } from '../files/source-files.ts'

const PAGE = 'docs/decisions/folders.md'
const ROW = /^ *\| (`[^|]*`) \| `(\w+)` \| [^|]+ \|$/gm
const EXPORTS = /^export (?:type )?\{([^}]*)\} from '\.\/([^']+)'/gm
const FROM_CORE = /\{([^{}]*)\}(?:\s+from |[^;\n]*import\()'@webloom\/core'/g
const NOT_CODE = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/g

/**
 * Files of `core` that it exports, that no other file of it imports, and of which at most one package makes use: each has a
 * reason in the decision on folders, or it moves to that package.
 */
export function coreForOneProblems(root: string): string[] {
  const sources = packageSources(root)
  const imported = importedFromCore(sources)
  const inside = new Set(sources.flatMap(importsInCore))
  const found = new Map<string, string>()
  for (const [file, names] of exportsByFile(textOf(root, 'packages/core/src/index.ts'))) {
    if (inside.has(file)) continue
    const users = new Set(names.flatMap((name) => [...(imported.get(name) ?? [])]))
    if (users.size <= 1) found.set(file, [...users][0] ?? 'nobody')
  }
  const told = new Map(
    [...textOf(root, PAGE).matchAll(ROW)].flatMap(([, files, user]) =>
      matches(files!, /`([^`]+)`/g).map((file) => [file, user!] as const),
    ),
  )
  return [
    ...[...found]
      .filter(([file, user]) => told.get(file) !== user)
      .map(([file, user]) => `core has ${file} for ${user} alone: move it there, or tell why not in ${PAGE}`),
    ...[...told.keys()]
      .filter((file) => !found.has(file))
      .map((file) => `${PAGE} tells why core has ${file} for one package, which is not so`),
  ]
}

/** By what it exports: the packages that import it from `core`. */
function importedFromCore(sources: ReturnType<typeof packageSources>): Map<string, Set<string>> {
  const users = new Map<string, Set<string>>()
  for (const { path, text } of sources) {
    for (const list of matches(text.replaceAll(NOT_CODE, ''), FROM_CORE)) {
      for (const name of namesIn(list).map(([name]) => name)) {
        users.set(name, (users.get(name) ?? new Set()).add(path.split('/')[1]!))
      }
    }
  }
  return users
}

/** The files of `core` that a file of it imports, but not those that its index hands on. */
function importsInCore({ path, text }: { path: string; text: string }): string[] {
  if (!path.startsWith('packages/core/src/') || /src\/(?:index\.ts|contract\/)/.test(path)) return []
  const folder = new URL(path.slice('packages/core/src/'.length), 'file:///')
  return matches(text, /from '(\.[^']+)'/g).map((from) => new URL(from, folder).pathname.slice(1))
}

function exportsByFile(index: string): Map<string, string[]> {
  const files = new Map<string, string[]>()
  for (const [, list, file] of index.replaceAll(NOT_CODE, '').matchAll(EXPORTS)) {
    const names = namesIn(list!).map(([, as]) => as)
    files.set(file!, [...(files.get(file!) ?? []), ...names])
  }
  return files
}

/** The names of a list: as they were, and as they are called from there on. */
function namesIn(list: string): [name: string, as: string][] {
  return list
    .split(',')
    .map((entry) => entry.trim().replace(/^type\s+/, ''))
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [name, as = name] = entry.split(/\s+as\s+/)
      return [name!, as!]
    })
}
