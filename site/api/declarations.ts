import ts from 'typescript'

/** A member of a class, an interface or an object type, with all its overloads. */
export interface Member {
  readonly name: string
  readonly signatures: readonly string[]
  readonly symbol: ts.Symbol
}

/** How a declaration is written, without its members. */
export function headsOf(symbol: ts.Symbol): string[] {
  return (symbol.declarations ?? []).flatMap((declaration) => {
    if (ts.isClassDeclaration(declaration) || ts.isInterfaceDeclaration(declaration))
      return [headOf(declaration)]
    if (ts.isVariableDeclaration(declaration)) return [`const ${textOf(declaration)}`]
    if (ts.isModuleDeclaration(declaration)) return []
    return [
      textOf(declaration)
        .replace(/^export /, '')
        .replace(/^declare /, ''),
    ]
  })
}

function headOf(declaration: ts.ClassDeclaration | ts.InterfaceDeclaration): string {
  const text = textOf(declaration)
  const members = declaration.members[0]?.getFullStart() ?? declaration.end - 1
  const head = text.slice(0, members - declaration.getStart()).replace(/\s*\{\s*$/, '')
  return head.replace(/^export /, '').replace(/^declare /, '')
}

/** What a user of the declaration can call or read, in the order of the source. */
export function membersOf(symbol: ts.Symbol): Member[] {
  const members = new Map<string, { signatures: string[]; symbol: ts.Symbol }>()
  for (const declaration of (symbol.declarations ?? []).flatMap(memberDeclarations)) {
    const name = nameOf(declaration)
    const own = symbolOf(declaration)
    if (name === undefined || own === undefined || isHidden(declaration)) continue
    const known = members.get(name) ?? { signatures: [], symbol: own }
    known.signatures.push(textOf(declaration).replace(/;$/, ''))
    members.set(name, known)
  }
  return [...members].map(([name, member]) => ({ name, ...member }))
}

function memberDeclarations(declaration: ts.Declaration): readonly (ts.ClassElement | ts.TypeElement)[] {
  if (ts.isClassDeclaration(declaration) || ts.isInterfaceDeclaration(declaration)) return declaration.members
  if (ts.isTypeAliasDeclaration(declaration) && ts.isTypeLiteralNode(declaration.type))
    return declaration.type.members
  return []
}

function nameOf(member: ts.ClassElement | ts.TypeElement): string | undefined {
  if (ts.isConstructorDeclaration(member)) return 'constructor'
  if (ts.isCallSignatureDeclaration(member)) return 'call'
  if (member.name === undefined || ts.isPrivateIdentifier(member.name)) return undefined
  return ts.isStringLiteral(member.name) ? member.name.text : member.name.getText()
}

function symbolOf(member: ts.ClassElement | ts.TypeElement): ts.Symbol | undefined {
  // The compiler gives each declaration its symbol, and its types do not say so.
  return (member as ts.Declaration & { symbol?: ts.Symbol }).symbol
}

function isHidden(member: ts.Declaration): boolean {
  const isPrivate =
    ts.canHaveModifiers(member) &&
    ts.getModifiers(member)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)
  return isPrivate === true || ts.getJSDocTags(member).some(({ tagName }) => tagName.text === 'internal')
}

/** The classes and interfaces that a declaration extends, the nearest first. */
export function ancestorsOf(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol[] {
  const bases = (symbol.declarations ?? []).flatMap((declaration) =>
    ts.isClassDeclaration(declaration) || ts.isInterfaceDeclaration(declaration)
      ? (declaration.heritageClauses ?? [])
          .filter(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)
          .flatMap(({ types }) =>
            types.flatMap(({ expression }) => checker.getSymbolAtLocation(expression) ?? []),
          )
      : [],
  )
  const declared = bases.map((base) =>
    base.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(base) : base,
  )
  return [...new Set(declared.flatMap((base) => [base, ...ancestorsOf(base, checker)]))]
}

/** Names of types that a declaration mentions, members included, each with what it stands for. */
export function mentionsOf(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol[] {
  const found = new Set<ts.Symbol>()
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      const named = checker.getSymbolAtLocation(node)
      if (named) found.add(named.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(named) : named)
    }
    ts.forEachChild(node, visit)
  }
  for (const declaration of symbol.declarations ?? []) visit(declaration)
  found.delete(symbol)
  return [...found]
}

/** A node’s text as the compiler wrote it, less the indent of where it stands and the comments within. */
function textOf(node: ts.Node): string {
  const file = node.getSourceFile()
  const { character } = file.getLineAndCharacterOfPosition(node.getStart())
  const text = node.getText().replaceAll(/^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm, '')
  return character === 0 ? text : text.replaceAll(new RegExp(`\\n {1,${character}}`, 'g'), '\n')
}
