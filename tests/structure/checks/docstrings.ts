import { DeclarationFiles } from '../files/declaration-files.ts'

/**
 * What users may import and nothing explains: exports of `webloom`'s entries, and public members of the classes and interfaces
 * among them. A member that an ancestor explains needs no words of its own. Packages must be built.
 */
export function docstringProblems(root: string, entries: readonly string[], built = 'dist'): string[] {
  const files = new DeclarationFiles(root, built)
  const places = new Set(
    entries.flatMap((entry) => {
      const path = `packages/webloom/${built}/${entry}.d.ts`
      const deprecated = files.deprecatedOf(path)
      return [...files.exportsOf(path)].filter(([name]) => !deprecated.has(name)).map(([, place]) => place)
    }),
  )
  return [...places].flatMap((place) =>
    files.bareOf(place).map((name) => `${name} has no docstring (${place.replace(/\.d\.ts#.*/, '.ts')})`),
  )
}
