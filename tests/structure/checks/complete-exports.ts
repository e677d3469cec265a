import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { matches } from './source-files.ts'

const DECLARED =
  /^(?:export )?(?:declare )?(?:abstract )?(?:class|function|const|let|interface|type|enum) (\w+)/
const FROM = /^(?:import|export) (?:type )?\{([^}]*)\} from ['"]([^'"]+)['"];?$/gm

/**
 * Types that an entry's exports mention and that none of the entries exports: whoever implements or keeps such a thing cannot
 * name its type. Packages must be built.
 *
 * @param entries of `webloom`, as paths of their sources; the first is the one that is looked at
 * @param built the folder of a package that holds what is built
 */
export function incompleteExportProblems(root: string, entries: readonly string[], built = 'dist'): string[] {
  const files = new DeclarationFiles(root, built)
  const exported = entries.map((entry) => files.exportsOf(`packages/webloom/${built}/${entry}.d.ts`))
  const known = new Set(exported.flatMap((places) => [...places.values()]))
  return [...exported[0]!].flatMap(([name, place]) =>
    files
      .mentionsOf(place)
      .filter((mention) => !known.has(mention))
      .map(
        (mention) => `${name} of webloom/${entries[0]} mentions ${shown(mention)}, which no entry exports`,
      ),
  )
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
    for (const name of this.#file(path).own.keys()) found.set(name, `${path}#${name}`)
    return found
  }

  /** Where what a declaration mentions is declared, as far as it is ours. */
  mentionsOf(place: string): string[] {
    const [path, name] = place.split('#') as [string, string]
    const { own, imported } = this.#file(path)
    const body = own.get(name) ?? ''
    const words = new Set(matches(body, /(?<![.\w$])([A-Z]\w*)/g))
    words.delete(name)
    // A parameter of the declaration's own.
    for (const parameter of matches(body, /[<,]\s*(?:const )?(\w+)(?= extends | = |[,>])/g))
      if (!imported.has(parameter) && !own.has(parameter)) words.delete(parameter)
    return [...words].flatMap((word) => {
      const from = imported.get(word)
      if (from) return this.#resolved(path, from.from, from.name) ?? []
      return own.has(word) ? `${path}#${word}` : []
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
  const text = source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')
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
  return { text, own, imported }
}

function withoutPrivate(line: string): string {
  return /^\s+private /.test(line) ? '' : line.replaceAll(/'[^']*'|"[^"]*"/g, "''")
}
