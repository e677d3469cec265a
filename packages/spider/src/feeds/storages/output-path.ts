/** What stands at the path of an output, and whether it can be written. */

import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { access, mkdir, open, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf } from './output-errors.ts'

/**
 * Makes the parent folders, and checks that `path` can be written. Changes nothing else. Returns the stats of what is
 * there.
 */
export async function probe(path: string): Promise<Stats | undefined> {
  await makeFolders(dirname(path))
  const found = await statOf(path)
  if (!found) await tryCreating(dirname(path))
  // A pipe must not be opened for a check: its reader would take the closing for the end.
  else if (found.isFile() || found.isDirectory()) await (await open(path, 'a')).close()
  else await access(path, constants.W_OK)
  return found
}

/** Does not use `mkdir`'s `recursive`: where a folder can never be made (`/proc/x/y`), Node 24 tries for ever. */
export async function makeFolders(folder: string): Promise<void> {
  if (await statOf(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) await makeFolders(parent)
  try {
    await mkdir(folder)
  } catch (error) {
    // Another feed or process was quicker.
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** Creates a file under another name: removing `path` itself could delete what another process has begun to write there. */
async function tryCreating(folder: string): Promise<void> {
  const path = join(folder, `.webloom-${randomUUID()}`)
  await (await open(path, 'wx')).close()
  await rm(path, { force: true })
}

export async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
