import { DeclarationFiles } from '../files/declaration-files.ts'

/**
 * What users may import and nothing explains: exports of packages' entries, and public members of the classes and interfaces
 * among them. A member that an ancestor explains needs no words of its own. Packages must be built.
 *
 * @param entries such as `webloom/ports`
 */
export function docstringProblems(root: string, entries: readonly string[], built = 'dist'): string[] {
  const files = new DeclarationFiles(root, built)
  const places = new Set(
    entries.flatMap((entry) => {
      const [home, file] = entry.split('/')
      const path = `packages/${home}/${built}/${file}.d.ts`
      const deprecated = files.deprecatedOf(path)
      return [...files.exportsOf(path)].filter(([name]) => !deprecated.has(name)).map(([, place]) => place)
    }),
  )
  return [...places].flatMap((place) =>
    files.bareOf(place).map((name) => `${name} has no docstring (${place.replace(/\.d\.ts#.*/, '.ts')})`),
  )
}
