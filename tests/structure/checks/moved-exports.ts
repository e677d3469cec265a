import { matches, textOf } from '../files/source-files.ts'

const TAGGED = /\/\*\* @deprecated `import (?:type )?\{ (\w+) \} from '([^']+)'` \*\/\s*(?:type )?(\w+),/g
const ROW = /^\| (`.*`) \| `webloom` \| `([^`]+)` \|$/gm
const EXPORTS = /^export\s+(?:type\s+)?\{([^}]*)\}/gm

/**
 * Exports of `webloom` that have moved: each has a tag `@deprecated` with the line that imports it from its new place, is
 * exported there, and stands in CHANGELOG.md. What `webloom/ports` exports, `webloom` has only as moved.
 */
export function movedExportProblems(root: string): string[] {
  const index = textOf(root, 'packages/webloom/src/index.ts')
  const tagged = new Map(
    [...index.matchAll(TAGGED)].map(([, named, to, name]) => [name!, { named: named!, to: to! }]),
  )
  const told = new Map(
    [...textOf(root, 'CHANGELOG.md').matchAll(ROW)].flatMap(([, names, to]) =>
      matches(names!, /`(\w+)`/g).map((name) => [name, to!] as const),
    ),
  )
  const ports = exportsOf(textOf(root, 'packages/webloom/src/ports.ts'))
  return [
    ...exportsOf(index)
      .filter((name) => !tagged.has(name) && (ports.includes(name) || told.has(name)))
      .map((name) => `${name} of webloom has moved and has no tag @deprecated with its new import line`),
    ...[...tagged].flatMap(([name, { named, to }]) => [
      ...(named === name && exportsOf(indexOf(root, to)).includes(name)
        ? []
        : [`the tag of ${name} imports ${named} from ${to}, which does not export ${name}`]),
      ...(told.get(name) === to
        ? []
        : [`CHANGELOG.md does not tell that ${name} moved from webloom to ${to}`]),
    ]),
    ...[...told.keys()]
      .filter((name) => !exportsOf(index).includes(name))
      .map((name) => `CHANGELOG.md tells that ${name} moved from webloom, which does not export it`),
  ]
}

function indexOf(root: string, to: string): string {
  if (to === 'webloom/ports') return textOf(root, 'packages/webloom/src/ports.ts')
  return textOf(root, `packages/${to.replace('@webloom/', '')}/src/index.ts`)
}

/** The names under which a list of exports has them. */
function exportsOf(text: string): string[] {
  return matches(text.replaceAll(/\/\*[\s\S]*?\*\//g, ''), EXPORTS)
    .flatMap((list) => list.split(','))
    .map(
      (entry) =>
        entry
          .trim()
          .replace(/^type\s+/, '')
          .split(/\s+as\s+/)
          .at(-1)!,
    )
    .filter((name) => name !== '')
}
