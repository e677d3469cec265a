import ts from 'typescript'
import { relativeTo, withoutBraces } from '../source/links.ts'
import { firstSentence, outsideCode, slugOf } from '../source/markdown.ts'
import { ancestorsOf, headsOf, membersOf, mentionsOf } from './declarations.ts'
import { type Entry, isForAuthors } from './entries.ts'
import { type Api, type Exported, KINDS } from './exports.ts'

/** A page that no file of the repository has. */
export interface ApiPage {
  readonly path: string
  readonly title: string
  readonly summary: string
  readonly text: string
}

/** A page for each export, one for each entry, and one that lists the entries. */
export function apiPages(entries: readonly Entry[], api: Api): ApiPage[] {
  const bySymbol = new Map(api.exports.map((one) => [one.symbol, one]))
  return [
    overview(entries),
    ...entries.map((entry) => entryPage(entry, api)),
    ...api.exports.map((one) => exportPage(one, api, bySymbol)),
  ]
}

function overview(entries: readonly Entry[]): ApiPage {
  const row = (entry: Entry) =>
    `| [\`${entry.name}\`](./${entry.folder.slice('api/'.length)}/index.md) | ${entry.description} |`
  const table = (title: string, rows: readonly Entry[]) =>
    `## ${title}\n\n| import from | |\n| --- | --- |\n${rows.map(row).join('\n')}\n`
  const text = [
    '# API\n',
    'A page for each export, made from its declaration and its docstring.\n',
    table('For spiders and components', entries.filter(isForAuthors)),
    table(
      'Parts',
      entries.filter((entry) => !isForAuthors(entry)),
    ),
    'Most of what the parts export is for one another. What authors of spiders and components need of them, the entries above export as well.\n',
  ].join('\n')
  return { path: 'api/index.md', title: 'API', summary: 'A page for each export.', text }
}

function entryPage({ name, folder, description }: Entry, { exports, checker }: Api): ApiPage {
  const lists = KINDS.map(([kind, title]) => {
    const rows = exports
      .filter((one) => one.entry.name === name && one.kind === kind)
      .map((one) => {
        const said = firstSentence(docOf(one.symbol, checker)).replaceAll('|', '\\|')
        return `| [\`${one.name}\`](${relativeTo(`${folder}/index.md`, one.path)}) | ${said} |`
      })
    return rows.length === 0 ? '' : `## ${title}\n\n| | |\n| --- | --- |\n${rows.join('\n')}\n`
  })
  const others = exports.flatMap((one) =>
    one.alsoFrom
      .filter(({ entry, isDeprecated }) => entry.name === name && !isDeprecated)
      .map((way) => `[\`${way.name}\`](${relativeTo(`${folder}/index.md`, one.path)})`),
  )
  const elsewhere = others.length === 0 ? '' : `## Described elsewhere\n\n${others.join(', ')}\n`
  const text = [`# ${name}\n`, `${description}\n`, ...lists, elsewhere].join('\n')
  return { path: `${folder}/index.md`, title: name, summary: description, text }
}

function exportPage(one: Exported, api: Api, pages: ReadonlyMap<ts.Symbol, Exported>): ApiPage {
  const { name, kind, entry, path, symbol } = one
  const said = docOf(symbol, api.checker)
  const isType = kind === 'interface' || kind === 'type'
  const importing = `import ${isType ? 'type ' : ''}{ ${name} } from '${entry.name}'`
  const mentioned = mentionsOf(symbol, api.checker).flatMap((other) => {
    const page = pages.get(other)
    return page ? [`[\`${page.name}\`](${relativeTo(path, page.path)})`] : []
  })
  const text = [
    `# ${name}\n`,
    `${said}\n`,
    ...body(one, importing, api.checker),
    ...inherited(one, api.checker, pages),
    mentioned.length === 0 ? '' : `**See also** ${mentioned.join(', ')}\n`,
    elsewhere(one),
  ]
  return {
    path,
    title: name,
    summary: firstSentence(said),
    text: text.filter((part) => part.trim() !== '').join('\n'),
  }
}

/** The declaration, and a part for each member. */
function body({ symbol, kind }: Exported, importing: string, checker: ts.TypeChecker): string[] {
  const members = membersOf(symbol)
  // A type of all settings is a table that has a page of its own; here its names would hide that from the search.
  if (members.length > MEMBERS_MAX) {
    const signatures = members.flatMap((member) => member.signatures.map((text) => `  ${text}`))
    return [
      codeBlock([importing, '', ...headsOf(symbol), ...(kind === 'type' ? [] : ['{', ...signatures, '}'])]),
    ]
  }
  return [
    codeBlock([importing, '', ...headsOf(symbol)]),
    tagsOf(symbol, checker),
    ...members.map((member) =>
      [
        `## ${member.name} {#${anchorOf(member.name)}}\n`,
        codeBlock(member.signatures),
        `${docOf(member.symbol, checker)}\n`,
        tagsOf(member.symbol, checker),
      ].join('\n'),
    ),
  ]
}

/** `$` has nothing that an anchor could hold. */
function anchorOf(member: string): string {
  return slugOf(member) || 'dollar'
}

/** More than any class has. */
const MEMBERS_MAX = 100

/** Members that a page need not describe again. */
function inherited(
  one: Exported,
  checker: ts.TypeChecker,
  pages: ReadonlyMap<ts.Symbol, Exported>,
): string[] {
  const known = new Set(['constructor', ...membersOf(one.symbol).map(({ name }) => name)])
  return ancestorsOf(one.symbol, checker).flatMap((ancestor) => {
    const page = pages.get(ancestor)
    const members = membersOf(ancestor).filter(({ name }) => !known.has(name))
    for (const { name } of members) known.add(name)
    if (page === undefined || members.length === 0) return []
    const to = relativeTo(one.path, page.path)
    const links = members.map(({ name }) => `[\`${name}\`](${to}#${anchorOf(name)})`)
    return [`**Inherited from [\`${page.name}\`](${to})** ${links.join(', ')}\n`]
  })
}

function elsewhere({ alsoFrom }: Exported): string {
  if (alsoFrom.length === 0) return ''
  const ways = alsoFrom.map(
    ({ entry, isDeprecated }) => `\`${entry.name}\`${isDeprecated ? ' (deprecated)' : ''}`,
  )
  return `**Also exported by** ${ways.join(', ')}\n`
}

function codeBlock(parts: readonly string[]): string {
  return parts.length === 0 ? '' : `\`\`\`ts\n${parts.join('\n')}\n\`\`\`\n`
}

function docOf(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  return prose(ts.displayPartsToString(symbol.getDocumentationComment(checker)))
}

/** `@param` and the like; what is internal or moved says so elsewhere. */
function tagsOf(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const lines = symbol
    .getJsDocTags(checker)
    .filter(({ name }) => name !== 'internal')
    .map(({ name, text }) => {
      const said = ts.displayPartsToString(text).replaceAll(/\s*\n\s*/g, ' ')
      const [, parameter, meaning] = /^(\w+)\s*([\s\S]*)$/.exec(said) ?? []
      return name === 'param' && parameter !== undefined
        ? `- \`${parameter}\`: ${prose(meaning!.replace(/^- /, ''))}`
        : `- ${TAG_WORDS[name] ?? name}: ${prose(said)}`
    })
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

const TAG_WORDS: Readonly<Record<string, string>> = {
  returns: 'Returns',
  throws: 'Throws',
  deprecated: 'Deprecated',
}

/** A docstring is plain text with code: what looks like a tag of HTML is none. */
function prose(text: string): string {
  return outsideCode(
    text,
    (code) => code,
    (plain) => withoutBraces(plain.replaceAll('<', '&lt;').replaceAll(/^#/gm, '\\#')),
  )
}
