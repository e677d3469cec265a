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

/** Declaration files by path; places are `<path>#<name>`. */
export class DeclarationFiles {
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
    // A constant is not a type: what `typeof` or a symbol's key makes of it stands in the declaration.
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

  /** What of a declaration has no docstring: itself, or members of a class or interface that no ancestor documents either. */
  bareOf(place: string): string[] {
    const [path, name] = place.split('#') as [string, string]
    const { documented, members } = this.#file(path)
    const inherited = new Set(
      this.#ancestorsOf(place).flatMap((ancestor) => this.#documentedMembersOf(ancestor)),
    )
    const own = new Set([...this.#documentedMembersOf(place), ...inherited])
    const bare = [...(members.get(name) ?? [])].map(([member]) => member).filter((member) => !own.has(member))
    return [...(documented.has(name) ? [] : [name]), ...bare.map((member) => `${name}.${member}`)]
  }

  #documentedMembersOf(place: string): string[] {
    const [path, name] = place.split('#') as [string, string]
    return [...(this.#file(path).members.get(name) ?? [])]
      .filter(([, said]) => said)
      .map(([member]) => member)
  }

  #ancestorsOf(place: string): string[] {
    const [path, name] = place.split('#') as [string, string]
    const { own, imported } = this.#file(path)
    const head = /^.*?(?:\bextends\b|\bimplements\b)(.*?)\{\n/.exec(own.get(name) ?? '')?.[1] ?? ''
    const parents = matches(head, /\b([A-Z]\w*)/g).flatMap((word) => {
      const from = imported.get(word)
      if (from) return this.#resolved(path, from.from, from.name) ?? []
      return own.has(word) && word !== name ? `${path}#${word}` : []
    })
    return [...parents, ...parents.flatMap((parent) => this.#ancestorsOf(parent))]
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
  return { source, text, own, imported, ...documentation(source) }
}

/** Members of every class alike: `ComponentClass` says what `fromCrawler` is, and options what a constructor takes. */
const COMMON = new Set(['constructor', 'fromCrawler', 'toString'])
const MEMBER = /^ {4}(?:(?:static|abstract|readonly|get|set) )*(?:'([^']+)'|(\w+))\??\s*[:(<;]/

/** What has a docstring in a file, as `tsc` writes it: declarations, and members of classes and interfaces. */
function documentation(source: string) {
  const documented = new Set<string>()
  const members = new Map<string, Map<string, boolean>>()
  let current: Map<string, boolean> | undefined
  let isSaid = false
  for (const line of source.split('\n')) {
    const name = DECLARED.exec(line)?.[1]
    if (name !== undefined) {
      if (isSaid) documented.add(name)
      current = /\b(?:class|interface) \w/.test(line) && !line.endsWith('}') ? new Map() : undefined
      if (current) members.set(name, current)
    } else if (line.startsWith('}')) current = undefined
    const [, quoted, plain] = (!/^ {4}private /.test(line) && MEMBER.exec(line)) || []
    const member = quoted ?? plain
    if (current && member !== undefined && !COMMON.has(member))
      current.set(member, isSaid || current.get(member) === true)
    isSaid = line.trimEnd().endsWith('*/')
  }
  return { documented, members }
}

function withoutPrivate(line: string): string {
  return /^\s+private /.test(line) ? '' : line.replaceAll(/'[^']*'|"[^"]*"/g, "''")
}
