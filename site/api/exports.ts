import ts from 'typescript'
import type { Entry } from './entries.ts'

/** Something that packages export, however many entries name it. */
export interface Exported {
  readonly name: string
  readonly kind: Kind
  /** Where its page is: the first entry that has it and does not call it deprecated. */
  readonly entry: Entry
  /** From the site’s root: `api/webloom/Spider.md`. */
  readonly path: string
  readonly alsoFrom: readonly Import[]
  readonly symbol: ts.Symbol
}

/** Another line that imports it. */
export interface Import {
  readonly entry: Entry
  readonly name: string
  readonly isDeprecated: boolean
}

export type Kind = 'class' | 'interface' | 'type' | 'function' | 'constant'

/** In the order of an entry’s page. */
export const KINDS: readonly (readonly [Kind, string])[] = [
  ['class', 'Classes'],
  ['function', 'Functions'],
  ['constant', 'Constants'],
  ['interface', 'Interfaces'],
  ['type', 'Types'],
]

export interface Api {
  readonly exports: readonly Exported[]
  readonly checker: ts.TypeChecker
}

/** Reads the built declarations of all entries. Throws when a package is not built. */
export function readExports(entries: readonly Entry[], typeRoots: readonly string[]): Api {
  const program = ts.createProgram(
    entries.map(({ types }) => types),
    {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ES2024,
      strict: true,
      skipLibCheck: true,
      types: ['node'],
      typeRoots: [...typeRoots],
    },
  )
  const checker = program.getTypeChecker()
  const imports = new Map<ts.Symbol, Import[]>()
  for (const entry of entries) {
    const file = program.getSourceFile(entry.types)
    const module = file && checker.getSymbolAtLocation(file)
    if (!module) throw new Error(`${entry.types} is not there: npm run build makes it`)
    for (const symbol of checker.getExportsOfModule(module)) {
      const declared = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      const found = { entry, name: symbol.name, isDeprecated: isDeprecated(symbol, checker) }
      imports.set(declared, [...(imports.get(declared) ?? []), found])
    }
  }
  const taken = new Set<string>()
  return { checker, exports: [...imports].map(([symbol, ways]) => exported(symbol, ways, taken)) }
}

function exported(symbol: ts.Symbol, ways: readonly Import[], taken: Set<string>): Exported {
  const main = ways.find((way) => !way.isDeprecated) ?? ways[0]!
  const kind = kindOf(symbol)
  const plain = `${main.entry.folder}/${main.name}`
  // A file system may hold `item` and `Item` for one name.
  const path = taken.has(plain.toLowerCase()) ? `${plain}-${kind}` : plain
  taken.add(path.toLowerCase())
  return {
    name: main.name,
    kind,
    entry: main.entry,
    path: `${path}.md`,
    alsoFrom: ways.filter((way) => way !== main),
    symbol,
  }
}

function isDeprecated(symbol: ts.Symbol, checker: ts.TypeChecker): boolean {
  return symbol.getJsDocTags(checker).some(({ name }) => name === 'deprecated')
}

function kindOf({ flags }: ts.Symbol): Kind {
  if (flags & ts.SymbolFlags.Class) return 'class'
  if (flags & ts.SymbolFlags.Function) return 'function'
  if (flags & ts.SymbolFlags.Variable) return 'constant'
  return flags & ts.SymbolFlags.Interface ? 'interface' : 'type'
}
