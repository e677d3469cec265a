import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { matches, packageSources, sourceFiles, textOf } from '../files/source-files.ts'

/** A reader takes in about so many names at a glance. */
const FILES_MAX = 16

/**
 * Folders of sources, tests beside them aside, of what a package's tests share, and of `tests/` that hold more files than a reader can take
 * in.
 *
 * @param peers folders whose files stand side by side, one for each middleware or command: however many there are, a reader
 *   wants one. A folder that is no larger than others need not be named
 */
export function folderProblems(root: string, peers: readonly string[] = []): string[] {
  const counts = new Map(peers.map((folder) => [folder, 0]))
  for (const folder of [...foldersOf(root), ...testFoldersOf(root)])
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  return [...counts].flatMap(([folder, count]) => {
    if (count <= FILES_MAX)
      return peers.includes(folder) ? [`${folder} has ${count} files: it need not be named in the test`] : []
    return peers.includes(folder)
      ? []
      : [`${folder} has ${count} files, and ${FILES_MAX} are the most: which second noun is in it?`]
  })
}

/**
 * Folders that the code map leaves out, and those that it names and that are not there. A row begins with the name of its package,
 * and has its folders as `name/`.
 */
export function codeMapProblems(root: string): string[] {
  const rows = textOf(root, 'ARCHITECTURE.md').matchAll(/^\| `([\w-]+)`.*$/gm)
  const named = [...rows].flatMap(([row, home]) =>
    matches(row, /`([\w-]+)\/`/g).map((name) => ({ home: `packages/${home}/`, name })),
  )
  const all = foldersOf(root)
  const folders = new Set(all.map((folder) => folder.replace(/^(packages\/[\w-]+\/src\/[\w-]+).*/, '$1')))
  const isNamed = (folder: string) => named.some(({ home, name }) => folder === `${home}src/${name}`)
  const isThere = (home: string, name: string) =>
    existsSync(join(root, home, name)) ||
    all.some((folder) => folder.startsWith(home) && `${folder}/`.includes(`/${name}/`))
  return [
    ...[...folders]
      .filter((folder) => /\/src\/./.test(folder) && !isNamed(folder))
      .map((folder) => `ARCHITECTURE.md does not say what is in ${folder}/`),
    ...named
      .filter(({ home, name }) => existsSync(join(root, home)) && !isThere(home, name))
      .map(({ home, name }) => `ARCHITECTURE.md speaks of ${name}/ in ${home}, which is not there`),
  ]
}

/** Folders of `tests/` of which its page says nothing. */
export function untoldTestFolders(root: string): string[] {
  const page = textOf(root, 'tests/README.md')
  return [...new Set(testFoldersOf(root).map((folder) => folder.split('/')[1]))]
    .filter((name) => name !== undefined && !page.includes(`\`${name}/\``))
    .map((name) => `tests/README.md does not say what is in ${name}/`)
}

/** The folder of each source file. */
function foldersOf(root: string): string[] {
  return packageSources(root, '{src,lua,testing}/**/*.{ts,tsx,lua}').map(({ path }) => posix.dirname(path))
}

/** The folder of each file of the tests that cross packages. */
function testFoldersOf(root: string): string[] {
  return sourceFiles(root, 'tests/**/*.ts')
    .map(({ path }) => posix.dirname(path))
    .filter((folder) => !/\/fixtures(?:\/|$)/.test(folder))
}

/** Files of `commands/` that no file of `cli/` loads: what several commands share, or one needs, stands in the room of its noun. */
export function strayCommandProblems(root: string): string[] {
  const loaded = sourceFiles(root, 'packages/webloom/src/cli/*.ts').flatMap(({ text }) =>
    matches(text, /'\.\.\/commands\/([\w-]+\.ts)'/g),
  )
  return sourceFiles(root, 'packages/webloom/src/commands/*.ts')
    .map(({ path }) => path)
    .filter((path) => !path.endsWith('.test.ts') && !loaded.includes(posix.basename(path)))
    .map((path) => `${path} is no command: cli/ does not load it`)
}
