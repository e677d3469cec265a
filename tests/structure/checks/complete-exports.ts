import { DeclarationFiles } from '../files/declaration-files.ts'

/**
 * Types that exports mention and that none of the entries exports: whoever implements or keeps such a thing cannot name its
 * type. Packages must be built. An export that is deprecated may mention what its new place exports.
 *
 * @param entries of `webloom`, as paths of their sources
 * @param built the folder of a package that holds what is built
 */
export function incompleteExportProblems(root: string, entries: readonly string[], built = 'dist'): string[] {
  const files = new DeclarationFiles(root, built)
  const paths = entries.map((entry) => `packages/webloom/${built}/${entry}.d.ts`)
  const exported = paths.map((path) => files.exportsOf(path))
  const known = new Set(exported.flatMap((places) => [...places.values()]))
  return entries.flatMap((entry, index) => {
    const deprecated = files.deprecatedOf(paths[index]!)
    return [...exported[index]!]
      .filter(([name]) => !deprecated.has(name))
      .flatMap(([name, place]) =>
        files
          .mentionsOf(place)
          .filter((mention) => !known.has(mention))
          .map(
            (mention) => `${name} of ${shownEntry(entry)} mentions ${shown(mention)}, which no entry exports`,
          ),
      )
  })
}

function shownEntry(entry: string): string {
  return entry === 'index' ? 'webloom' : `webloom/${entry}`
}

function shown(place: string): string {
  const [path, name] = place.split('#')
  return `${name} (${path!.replace(/\.d\.ts$/, '.ts')})`
}
