import { posix } from 'node:path'
import { sourceFiles, textOf } from './source-files.ts'

/** A reader takes in about so many names at a glance. */
const FILES_MAX = 16

/**
 * Folders of sources that hold more files than a reader can take in, tests aside.
 *
 * @param larger how many files some folders of peers may hold. Fewer are a problem, too
 */
export function folderProblems(root: string, larger: Readonly<Record<string, number>> = {}): string[] {
  const counts = new Map(Object.keys(larger).map((folder) => [folder, 0]))
  for (const folder of foldersOf(root)) counts.set(folder, (counts.get(folder) ?? 0) + 1)
  return [...counts].flatMap(([folder, count]) => {
    const most = larger[folder] ?? FILES_MAX
    if (count > most)
      return [`${folder} has ${count} files, and ${most} are the most: which second noun is in it?`]
    return larger[folder] !== undefined && count < most
      ? [`${folder} has ${count} files, not ${most}: say so in the test`]
      : []
  })
}

/** Rooms that the code map leaves out: each is in a row with its whole path, or by its name behind that of its package. */
export function unmappedFolders(root: string): string[] {
  const rows = textOf(root, 'ARCHITECTURE.md').split('\n')
  return [...new Set(foldersOf(root).map((folder) => /^packages\/\w+\/src\/[\w-]+/.exec(folder)?.[0]))]
    .filter((room) => room !== undefined)
    .filter((room) => {
      const at = room.lastIndexOf('/') + 1
      const [home, name] = [room.slice(0, at), room.slice(at)]
      return !rows.some(
        (row) =>
          row.includes(`\`${home}${name}/`) || (row.includes(`\`${home}\``) && row.includes(`\`${name}/\``)),
      )
    })
    .map((room) => `ARCHITECTURE.md does not say what is in ${room}/`)
}

/** The folder of each source file. */
function foldersOf(root: string): string[] {
  return sourceFiles(root, 'packages/*/{src,lua}/**/*.{ts,lua}')
    .map(({ path }) => path)
    .filter((path) => !/\.(?:test|bench)\.ts$/.test(path))
    .map((path) => posix.dirname(path))
}
