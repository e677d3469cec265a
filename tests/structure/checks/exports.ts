import { matches, packageSources, sourceFiles } from '../files/source-files.ts'

/** Exports without a name, or of whatever another file has: neither can be found by searching for the name. */
export function unnamedExportProblems(root: string): string[] {
  return packageSources(root, '{src,bin,testing}/**/*.{ts,tsx,js}').flatMap(({ path, text }) =>
    // What stands in a template literal is a file of somebody else's.
    matches(text.replaceAll(/`(?:\\.|[^`\\])*`/g, '``'), /^export (default|\*)/gm).map(
      (what) => `${path} has an export ${what}`,
    ),
  )
}

/**
 * Comments that head a group of exports and stand on one of them. Biome sorts what follows a comment within its group only if
 * an empty line is between them; else the comment wanders with its neighbour.
 */
export function exportGroupProblems(root: string): string[] {
  return sourceFiles(root, 'packages/*/src/**/{index,ports,testing}.ts').flatMap(({ path, text }) =>
    matches(text, /^\/\/ (?!biome-ignore)(.*)\n(?=export (?:type )?\{)/gm).map(
      (group) => `${path}: the group “${group}” needs an empty line behind its comment`,
    ),
  )
}
