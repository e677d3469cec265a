import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { matches } from './source-files.ts'

const DECLARED =
  /^(?:export )?(?:declare )?(?:abstract )?(?:class|function|const|let|interface|type|enum) (\w+)/
const FROM = /^(?:import|export) (?:type )?\{([^}]*)\} from ['"]([^'"]+)['"];?$/gm
const EXPORTED_HERE = /^export (?:type )?\{([^}]*)\};?$/gm
/** Its types are what the compiler makes of the table of settings; `SettingValue` and the like are their names. */
const COMPUTED = /settings-table\.d\.ts$/
const DEPRECATED = /\/\*\*[^/]*@deprecated(?:(?!\*\/)[\s\S])*\*\/\s*(?:type )?(\w+)/g

/**
 * Types that exports mention and that none of the entries exports: whoever implements or keeps such a thing cannot name its
 * type. Packages must be built. An export that is deprecated may mention what its new place exports.
 *
 * @param entries of `webloom`, as paths of their sources
 * @param built the folder of a package that holds what is built
 */
export function incompleteExportProblems(root: string, entries: readonly string[], built = 'dist'): string[] {
  const files = new DeclarationFiles(root, built)
  const paths = entries.map((entry) => `packages/webloom/${built}/${entry}.d.ts`)
  const exported = paths.map((path) => files.exportsOf(path))
  const known = new Set(exported.flatMap((places) => [...places.values()]))
  return entries.flatMap((entry, index) => {
    const deprecated = files.deprecatedOf(paths[index]!)
    return [...exported[index]!]
      .filter(([name]) => !deprecated.has(name))
      .flatMap(([name, place]) =>
        files
          .mentionsOf(place)
          .filter((mention) => !known.has(mention))
          .map(
            (mention) => `${name} of ${shownEntry(entry)} mentions ${shown(mention)}, which no entry exports`,
          ),
      )
  })
}

function shownEntry(entry: string): string {
  return entry === 'index' ? 'webloom' : `webloom/${entry}`
}

function shown(place: string): string {
  const [path, name] = place.split('#')
  return `${name} (${path!.replace(/\.d\.ts$/, '.ts')})`
}

/** Declaration files by path; places are `<path>#<name>`. */
class DeclarationFiles {
  readonly #root: string
  readonly #built: string
  readonly #files = new Map<string, ReturnType<typeof parsed>>()

  constructor(root: string, built: string) {
    this.#root = root
    this.#built = built
  }

  /** Where each export of a file is declared, by its name there. */
  exportsOf(path: string): ReadonlyMap<string, string> {
    const { text } = this.#file(path)
    const found = new Map<string, string>()
    for (const [statement, list, from] of text.matchAll(FROM)) {
      if (!statement.startsWith('export')) continue
      for (const [name, alias] of namesOf(list!)) {
        const place = this.#resolved(path, from!, name)
        if (place) found.set(alias, place)
      }
    }
    for (const [name, alias] of matches(text, EXPORTED_HERE).flatMap(namesOf)) {
      const from = this.#file(path).imported.get(name)
      const place = from && this.#resolved(path, from.from, from.name)
      if (place) found.set(alias, place)
    }
    for (const name of this.#file(path).own.keys()) found.set(name, `${path}#${name}`)
    return found
  }

  /** The names that a file exports with a tag `@deprecated`. */
  deprecatedOf(path: string): ReadonlySet<string> {
    return new Set(matches(this.#file(path).source, DEPRECATED))
  }

  /** Where what a declaration mentions is declared, as far as it is ours. */
  mentionsOf(place: string): string[] {
    const [path, name] = place.split('#') as [string, string]
    const { own, imported } = this.#file(path)
    const body = own.get(name) ?? ''
    const words = new Set(matches(body, /(?<![.\w$])([A-Z]\w*)/g))
    words.delete(name)
    // A constant is no type: what `typeof` or a symbol's key makes of it stands in the declaration.
    for (const word of words) if (/^[A-Z\d]+_[A-Z\d_]+$/.test(word)) words.delete(word)
    // A parameter of the declaration's own.
    for (const parameter of matches(body, /[<,]\s*(?:const )?(\w+)(?= extends | = |[,>])/g))
      if (!imported.has(parameter) && !own.has(parameter)) words.delete(parameter)
    return [...words].flatMap((word) => {
      const from = imported.get(word)
      if (from) return this.#resolved(path, from.from, from.name) ?? []
      return own.has(word) && !COMPUTED.test(path) ? `${path}#${word}` : []
    })
  }

  #resolved(path: string, from: string, name: string): string | undefined {
    const target = this.#targetOf(path, from)
    if (target === undefined) return undefined
    const { own, text } = this.#file(target)
    if (own.has(name)) return `${target}#${name}`
    for (const [, list, next] of text.matchAll(FROM)) {
      const found = namesOf(list!).find(([, alias]) => alias === name)
      if (found) return this.#resolved(target, next!, found[0])
    }
    return undefined
  }

  #targetOf(path: string, from: string): string | undefined {
    if (from.startsWith('.')) return posix.join(posix.dirname(path), from.replace(/\.[jt]s$/, '.d.ts'))
    const [, name, entry = 'index'] = /^@webloom\/([\w-]+)(?:\/([\w-]+))?$/.exec(from) ?? []
    return name === undefined ? undefined : `packages/${name}/${this.#built}/${entry}.d.ts`
  }

  #file(path: string) {
    const known = this.#files.get(path)
    if (known) return known
    const full = join(this.#root, path)
    const file = parsed(existsSync(full) ? readFileSync(full, 'utf8') : '')
    this.#files.set(path, file)
    return file
  }
}

function namesOf(list: string): [name: string, alias: string][] {
  return list
    .split(',')
    .map((entry) => entry.trim().replace(/^type\s+/, ''))
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [name, alias = name] = entry.split(/\s+as\s+/) as [string, string?]
      return [name, alias!]
    })
}

/** What a declaration file declares, each with its text, and what it imports. */
function parsed(source: string) {
  const text = source
    // A member that says it is internal: no user of the class calls it.
    .replaceAll(/\/\*\*(?:(?!\*\/)[\s\S])*@internal(?:(?!\*\/)[\s\S])*\*\/\n.*/g, '')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
  const own = new Map<string, string>()
  let current: string | undefined
  for (const line of text.split('\n')) {
    const name = DECLARED.exec(line)?.[1]
    if (name !== undefined) current = name
    else if (/^(import|export)\b/.test(line)) current = undefined
    if (current !== undefined) own.set(current, `${own.get(current) ?? ''}${withoutPrivate(line)}\n`)
  }
  const imported = new Map<string, { name: string; from: string }>()
  for (const [statement, list, from] of text.matchAll(FROM))
    if (statement.startsWith('import'))
      for (const [name, alias] of namesOf(list!)) imported.set(alias, { name, from: from! })
  return { source, text, own, imported }
}

function withoutPrivate(line: string): string {
  return /^\s+private /.test(line) ? '' : line.replaceAll(/'[^']*'|"[^"]*"/g, "''")
}
