import { posix } from 'node:path'
import { matches, type SourceFile, sourceFiles } from '../../files/source-files.ts'

/** A script as TypeScript puts it together, and how it is sent. */
interface Script {
  readonly at: string
  readonly name: string
  readonly files: readonly string[]
}

/** Which of KEYS and ARGV a text names. */
interface Places {
  readonly KEYS: Set<number>
  readonly ARGV: Set<number>
  /** From some place on, all of them. */
  readonly isOpen: { KEYS: boolean; ARGV: boolean }
}

const KINDS = ['KEYS', 'ARGV'] as const

/**
 * What the headers of Lua files say of KEYS and ARGV, against what the files read and what their callers send.
 *
 * What is read is compared place by place, where it is read by its number; what is read one by one (`arg()`) is not. What is sent is
 * compared by how many it is, not by what: in a call of `script.run()`, or of a `#run()` of the file's own that puts something before,
 * with a list that stands in the call or in the nearest `const` of that name. A list that another function makes is beyond it.
 */
export function luaHeaderProblems(root: string): string[] {
  const homes = sourceFiles(root, 'packages/*/lua/**/*.lua').map(({ path }) =>
    path.split('/').slice(0, 2).join('/'),
  )
  return [...new Set(homes)].flatMap((home) => packageProblems(root, home))
}

function packageProblems(root: string, home: string): string[] {
  const lua = new Map(
    sourceFiles(root, `${home}/lua/**/*.lua`).map(({ path, text }) => [
      path.slice(`${home}/lua/`.length),
      text,
    ]),
  )
  const sources = sourceFiles(root, `${home}/src/**/*.ts`).filter(({ path }) => !path.endsWith('.test.ts'))
  const names = sources.flatMap(({ text }) => matches(text, /'([\w/-]+\.lua)'/g))
  const named = new Set(names)
  const shared = new Set(names.filter((file, n) => names.indexOf(file) !== n))
  return [
    ...[...named]
      .filter((file) => !lua.has(file))
      .map((file) => `${home}/lua/${file} is named and is not there`),
    ...[...lua.keys()]
      .filter((file) => !named.has(file))
      .map((file) => `${home}/lua/${file} is part of no script`),
    ...[...lua].flatMap(([file, text]) => headerProblems(`${home}/lua/${file}`, text)),
    ...sources.flatMap((source) =>
      scriptsOf(source).flatMap((script) => scriptProblems(script, callersOf(script, sources), lua, shared)),
    ),
  ]
}

function headerProblems(file: string, text: string): string[] {
  const header = headerOf(text)
  return ['Input', 'Output']
    .filter((part) => !header.includes(`-- ${part}`))
    .map((part) => `${file} tells no ${part}`)
}

/** The comment that a file begins with. */
function headerOf(text: string): string {
  return /^(?:(?:--|#!).*\n)*/.exec(text)![0]
}

function scriptsOf({ path, text }: SourceFile): Script[] {
  const lists = new Map(
    [...text.matchAll(/^(?:export )?const (\w+) = \[([^\]]*)\]/gm)].map(
      ([, name, list]) => [name!, list!] as const,
    ),
  )
  const filesIn = (list: string): string[] =>
    [...list.matchAll(/'([\w/-]+\.lua)'|\.\.\.(\w+)/g)].flatMap(([, file, other]) =>
      file === undefined ? filesIn(lists.get(other!) ?? '') : [file],
    )
  return [...text.matchAll(/^(?:export )?const (\w+) = (?:luaScript|new OomSafeScript)\(([^)]*)\)/gm)].map(
    ([, name, list]) => ({
      at: path,
      name: name!,
      files: filesIn(list!),
    }),
  )
}

/** The files that can name a script: its own, and those that import it. Other files may have one of the same name. */
function callersOf({ at, name }: Script, sources: readonly SourceFile[]): SourceFile[] {
  const imports = new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from '[^']*/${posix.basename(at)}'`)
  return sources.filter(({ path, text }) => path === at || imports.test(text))
}

function scriptProblems(
  script: Script,
  callers: readonly SourceFile[],
  lua: ReadonlyMap<string, string>,
  shared: ReadonlySet<string>,
): string[] {
  const files = script.files.filter((file) => lua.has(file))
  const told = toldIn(files, lua)
  const code = files.map((file) => lua.get(file)!.replace(/--.*/g, '')).join('')
  const last = script.files.at(-1)
  // What several scripts begin with tells of more than each of them reads.
  const ofItsOwn = toldIn(
    files.filter((file) => !shared.has(file)),
    lua,
  )
  return KINDS.flatMap((kind) => {
    const read = new Set(matches(code, new RegExp(`${kind}\\[(\\d+)\\]`, 'g')).map(Number))
    const untold = [...read].filter((n) => !told[kind].has(n) && !told.isOpen[kind])
    const isCounted = !new RegExp(
      `${kind}\\[[^\\]\\d]|unpack\\(${kind}|#${kind}\\b|\\b(?:arg|number)\\(\\)`,
    ).test(code)
    const unread = isCounted ? [...ofItsOwn[kind]].filter((n) => !read.has(n)) : []
    return [
      ...untold.map((n) => `${last} reads ${kind}[${n}], which no header of ${script.name} tells`),
      ...unread.map((n) => `${last} reads no ${kind}[${n}], which a header of ${script.name} tells`),
      ...callers.flatMap(({ path, text }) =>
        sentTo(script.name, text, kind).flatMap((sent) => sentProblem(script, path, kind, sent, told)),
      ),
    ]
  })
}

function sentProblem(
  { name }: Script,
  at: string,
  kind: (typeof KINDS)[number],
  sent: Sent,
  told: Places,
): string[] {
  const most = Math.max(0, ...told[kind])
  const isRight =
    told.isOpen[kind] || sent.isOpen ? sent.count <= most || told.isOpen[kind] : sent.count === most
  return isRight ? [] : [`${at} sends ${sent.count} ${kind} to ${name}, whose headers tell of ${most}`]
}

/** All that the headers of some files tell, and those that they refer to. */
function toldIn(files: readonly string[], lua: ReadonlyMap<string, string>): Places {
  const told: Places = { KEYS: new Set(), ARGV: new Set(), isOpen: { KEYS: false, ARGV: false } }
  const queue = [...files]
  const done = new Set<string>()
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    if (done.has(file)) continue
    done.add(file)
    const header = headerOf(lua.get(file) ?? '')
    readPlaces(header, told)
    queue.push(
      ...matches(header, /KEYS[^\n]*?(?:as in|as for|see) ([\w/-]+\.lua)/g).filter((other) => lua.has(other)),
    )
    queue.push(
      ...matches(header, /ARGV[^\n]*?(?:as in|as for|see) ([\w/-]+\.lua)/g).filter((other) => lua.has(other)),
    )
  }
  return told
}

/** `KEYS[1] this, ARGV[1] that, [2] and that`, `ARGV[1…4]`, `ARGV[7…]`. */
function readPlaces(header: string, told: Places): void {
  let kind: (typeof KINDS)[number] = 'KEYS'
  for (const [, named, from, more, to] of header.matchAll(/(KEYS|ARGV)?\[(\d+)(?:(…)([^\]]*))?\]/g)) {
    if (named) kind = named as typeof kind
    const end = to ? Number(to) : Number(from)
    if (more && !Number.isInteger(end)) told.isOpen[kind] = true
    if (more && !to) told.isOpen[kind] = true
    for (let n = Number(from); n <= end; n++) told[kind].add(n)
  }
}

interface Sent {
  readonly count: number
  /** It spreads something of unknown length. */
  readonly isOpen: boolean
}

function sentTo(script: string, text: string, kind: (typeof KINDS)[number]): Sent[] {
  return [...callsOf(`\\b${script}\\.run\\(`), ...callsOf(`\\.#run\\(${script}\\b`)]

  function callsOf(call: string): Sent[] {
    return [...text.matchAll(new RegExp(call, 'g'))].flatMap((found) => {
      const isOwn = found[0].startsWith('.#run')
      const parts = partsOf(text, found.index + found[0].indexOf('(') + 1)
      const list = isOwn ? (kind === 'ARGV' ? parts[1] : undefined) : parts[kind === 'KEYS' ? 1 : 2]
      const sent = listed(list?.trim() ?? '', text, found.index)
      if (!sent) return []
      const before = isOwn ? putBefore(text) : 0
      return before === undefined ? [] : [{ count: sent.count + before, isOpen: sent.isOpen }]
    })
  }
}

/** How many arguments a file's `#run(script, args)` puts before those that it is given. */
function putBefore(text: string): number | undefined {
  const [, before] = /script\.run\([^[]*\[([^\]]*)\.\.\.args\]\)/.exec(text) ?? []
  return before?.split(',').filter((part) => part.trim() !== '').length
}

/** How many a list has: one that is written there, or the nearest constant of that name above. */
function listed(list: string, text: string, at: number): Sent | undefined {
  if (list.startsWith('[')) {
    const parts = partsOf(list, 1).filter((part) => part.trim() !== '')
    const spread = parts.filter((part) => part.trim().startsWith('...'))
    return { count: parts.length - spread.length, isOpen: spread.length > 0 }
  }
  if (!/^\w+$/.test(list)) return undefined
  const above = text.slice(0, at)
  const made = [...above.matchAll(new RegExp(`const ${list}(?:: [^=]+)? = (?=\\[)`, 'g'))].at(-1)
  if (!made) return undefined
  const sent = listed(text.slice(made.index + made[0].length), text, 0)!
  return above.slice(made.index).includes(`${list}.push(`) ? { ...sent, isOpen: true } : sent
}

/** What stands between commas, from a place behind a bracket to the one that closes it. */
function partsOf(text: string, from: number): string[] {
  const parts = ['']
  let depth = 0
  for (const letter of text.slice(from)) {
    if ('([{'.includes(letter)) depth++
    if (')]}'.includes(letter) && depth-- === 0) break
    if (letter === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += letter
  }
  return parts
}
