/** A folder of a user's project, as the command line is tried in. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TempDir, tempDir } from '@webloom/testkit'

const PACKAGE = join(import.meta.dirname, '../../packages/webloom')
/** The built command line. */
export const CLI = join(PACKAGE, 'bin/webloom.js')

/** Makes a folder whose files may import `webloom`. @param files path → text */
export async function projectFolder(files: Readonly<Record<string, string>> = {}): Promise<TempDir> {
  const folder = await tempDir()
  mkdirSync(folder.join('node_modules'))
  symlinkSync(PACKAGE, folder.join('node_modules/webloom'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(folder.join(path)), { recursive: true })
    writeFileSync(folder.join(path), text)
  }
  return folder
}
