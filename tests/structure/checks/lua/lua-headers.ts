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
 * What the headers of Lua files say of KEYS and ARGV, against what the files read and what their callers send. Arguments that
 * are read one by one (`arg()`), or gathered elsewhere, are beyond it.
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
  const named = new Set(sources.flatMap(({ text }) => matches(text, /'([\w/-]+\.lua)'/g)))
  return [
    ...[...named]
      .filter((file) => !lua.has(file))
      .map((file) => `${home}/lua/${file} is named and is not there`),
    ...[...lua.keys()]
      .filter((file) => !named.has(file))
      .map((file) => `${home}/lua/${file} is part of no script`),
    ...[...lua].flatMap(([file, text]) => headerProblems(`${home}/lua/${file}`, text)),
    ...sources.flatMap((source) =>
      scriptsOf(source).flatMap((script) => scriptProblems(script, source, lua)),
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
    [...text.matchAll(/^const (\w+) = \[([^\]]*)\]/gm)].map(([, name, list]) => [name!, list!] as const),
  )
  const filesIn = (list: string): string[] =>
    [...list.matchAll(/'([\w/-]+\.lua)'|\.\.\.(\w+)/g)].flatMap(([, file, other]) =>
      file === undefined ? filesIn(lists.get(other!) ?? '') : [file],
    )
  return [...text.matchAll(/^const (\w+) = (?:luaScript|new OomSafeScript)\(([^)]*)\)/gm)].map(
    ([, name, list]) => ({
      at: path,
      name: name!,
      files: filesIn(list!),
    }),
  )
}

function scriptProblems(script: Script, { text }: SourceFile, lua: ReadonlyMap<string, string>): string[] {
  const files = script.files.filter((file) => lua.has(file))
  const told = toldIn(files, lua)
  const code = files.map((file) => lua.get(file)!.replace(/--.*/g, '')).join('')
  const last = script.files.at(-1)
  return KINDS.flatMap((kind) => {
    const read = new Set(matches(code, new RegExp(`${kind}\\[(\\d+)\\]`, 'g')).map(Number))
    const untold = [...read].filter((n) => !told[kind].has(n) && !told.isOpen[kind])
    const isCounted = !new RegExp(
      `${kind}\\[[^\\]\\d]|unpack\\(${kind}|#${kind}\\b|\\b(?:arg|number)\\(\\)`,
    ).test(code)
    const unread = isCounted ? [...told[kind]].filter((n) => !read.has(n)) : []
    return [
      ...untold.map((n) => `${last} reads ${kind}[${n}], which no header of ${script.name} tells`),
      ...unread.map((n) => `${last} reads no ${kind}[${n}], which a header of ${script.name} tells`),
      ...sentTo(script.name, text, kind).flatMap((sent) => sentProblem(script, kind, sent, told)),
    ]
  })
}

function sentProblem({ at, name }: Script, kind: (typeof KINDS)[number], sent: Sent, told: Places): string[] {
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

/** What is sent to a script where it stands in the call itself: `script.run(redis, [keys], [args])`. */
function sentTo(script: string, text: string, kind: (typeof KINDS)[number]): Sent[] {
  const sent: Sent[] = []
  for (const { index, 0: call } of text.matchAll(new RegExp(`\\b${script}\\.run\\(`, 'g'))) {
    const list = partsOf(text, index + call.length)[kind === 'KEYS' ? 1 : 2]?.trim()
    if (!list?.startsWith('[')) continue
    const parts = partsOf(list, 1).filter((part) => part.trim() !== '')
    const spread = parts.filter((part) => part.trim().startsWith('...'))
    sent.push({ count: parts.length - spread.length, isOpen: spread.length > 0 })
  }
  return sent
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
