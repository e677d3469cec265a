import { posix } from 'node:path'
import { packageSources, sourceFiles, textOf } from '../files/source-files.ts'

/** A reader takes in about so many names at a glance. */
const FILES_MAX = 16

/**
 * Folders of sources, tests beside them aside, and folders of `tests/` that hold more files than a reader can take in.
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

/** Folders that the code map leaves out: each is in a row with its whole path, or by its name behind that of its package. */
export function unmappedFolders(root: string): string[] {
  const rows = textOf(root, 'ARCHITECTURE.md').split('\n')
  return [...new Set(foldersOf(root).map((folder) => /^packages\/[\w-]+\/src\/[\w-]+/.exec(folder)?.[0]))]
    .filter((folder) => folder !== undefined)
    .filter((folder) => {
      const at = folder.lastIndexOf('/') + 1
      const [home, name] = [folder.slice(0, at), folder.slice(at)]
      return !rows.some(
        (row) =>
          row.includes(`\`${home}${name}/`) || (row.includes(`\`${home}\``) && row.includes(`\`${name}/\``)),
      )
    })
    .map((folder) => `ARCHITECTURE.md does not say what is in ${folder}/`)
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
  return packageSources(root, '{src,lua}/**/*.{ts,tsx,lua}').map(({ path }) => posix.dirname(path))
}

/** The folder of each file of the tests that cross packages. */
function testFoldersOf(root: string): string[] {
  return sourceFiles(root, 'tests/**/*.ts')
    .map(({ path }) => posix.dirname(path))
    .filter((folder) => !/\/fixtures(?:\/|$)/.test(folder))
}
