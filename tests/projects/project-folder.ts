/** A folder of a user's project, as the command line is tried in. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TempDir, tempDir } from '@webloom/testkit'

/** The package as built. */
export const PACKAGE = join(import.meta.dirname, '../../packages/webloom')
export const cliOf = (home: string) => join(home, 'bin/webloom.js')
/** The built command line. */
export const CLI = cliOf(PACKAGE)

/** Makes a folder whose files may import `webloom`. @param files path → text @param home of the package that they import */
export async function projectFolder(
  files: Readonly<Record<string, string>> = {},
  home = PACKAGE,
): Promise<TempDir> {
  const folder = await tempDir()
  mkdirSync(folder.join('node_modules'))
  symlinkSync(home, folder.join('node_modules/webloom'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(folder.join(path)), { recursive: true })
    writeFileSync(folder.join(path), text)
  }
  return folder
}
