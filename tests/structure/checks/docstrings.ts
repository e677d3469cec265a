import { matches, type SourceFile, sourceFiles, textOf } from './source-files.ts'

const ENTRIES = ['packages/webloom/src/index.ts', 'packages/webloom/src/ports.ts']
const EXPORTS = /export\s+(?:type\s+)?\{([^}]*)\}\s*from\s*'([^']+)'/g

/** Exports of `webloom` whose declaration has no docstring, or that cannot be found. */
export function docstringProblems(root: string): string[] {
  const texts = ENTRIES.map((entry) => textOf(root, entry).replaceAll(/\/\*[\s\S]*?\*\//g, '')).join('\n')
  return [...texts.matchAll(EXPORTS)].flatMap(([, list, from]) => {
    const files = filesOf(root, from!)
    return matches(list!, /([^,]+)/g)
      .map(
        (entry) =>
          entry
            .trim()
            .replace(/^type\s+/, '')
            .split(/\s+as\s+/)[0]!,
      )
      .filter((name) => name !== '')
      .flatMap((name) => problemOf(name, files, from!))
  })
}

function filesOf(root: string, from: string): SourceFile[] {
  if (from.startsWith('./')) return sourceFiles(root, `packages/webloom/src/${from.slice(2)}`)
  const home = `packages/${from.replace('@webloom/', '')}/src`
  // A package may pass on what another one declares.
  const passedOn = matches(textOf(root, `${home}/index.ts`), /\} from '(@webloom\/[^']+)'/g)
  const own = sourceFiles(root, `${home}/**/*.ts`).filter(({ path }) => !path.endsWith('.test.ts'))
  return [...own, ...passedOn.flatMap((other) => filesOf(root, other))]
}

function problemOf(exported: string, files: readonly SourceFile[], from: string): string[] {
  // A package may export it under a second name.
  const lists = files.filter(({ path }) => path.endsWith('/index.ts')).map(({ text }) => text)
  const name =
    lists.map((list) => new RegExp(`(\\w+) as ${exported}\\b`).exec(list)?.[1]).find(Boolean) ?? exported
  const declaration = new RegExp(
    `^(?:export )(?:declare )?(?:abstract )?(?:async )?(?:class|function\\*?|const|interface|type) ${name}\\b`,
    'm',
  )
  for (const { path, text } of files) {
    const match = declaration.exec(text)
    if (!match) continue
    const before = text.slice(0, match.index).trimEnd()
    // A lint suppression may stand between a docstring and its declaration.
    const line = before.split('\n').findLast((one) => !one.trim().startsWith('//')) ?? ''
    return line.trim().endsWith('*/') ? [] : [`${name}, exported by webloom, has no docstring (${path})`]
  }
  return [`${name}, exported by webloom from ${from}, is declared nowhere in it`]
}
