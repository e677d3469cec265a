/**
 * Keeps the text of TypeScript files without their types, so that a process that finds it need not load Node's type stripper:
 * that takes 20 MB for as long as the process runs, and a tenth of a second.
 *
 * It lies in `node_modules/.cache/webloom` of the project, one entry for each file:
 *
 *     <hash of the file's path>.js:   <key> newline <text>
 *
 * The key is a hash of the file's text and of the stripper's version, so an entry of another text is not used. A project
 * without node_modules, or one that may not be written to, has no cache: its files are stripped each time.
 */

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Returns what `strip` returned for this text of the file, now or in an earlier process. What it throws is passed on. */
export function strippedOnce(path: string, source: string, strip: () => string): string {
  const folder = cacheFolderOf(path)
  if (folder === undefined) return strip()
  const entry = join(folder, `${hashOf(path)}.js`)
  const key = hashOf(`${process.version} ${process.versions.amaro} ${source}`)
  const known = textOf(entry, key)
  if (known !== undefined) return known
  const text = strip()
  keep(entry, `${key}\n${text}`)
  return text
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** Returns the folder of the cache, in the nearest node_modules here or above. */
function cacheFolderOf(path: string): string | undefined {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const modules = join(folder, 'node_modules')
    if (statSync(modules, { throwIfNoEntry: false })?.isDirectory()) return join(modules, '.cache', 'webloom')
    if (folder === dirname(folder)) return undefined
  }
}

function textOf(entry: string, key: string): string | undefined {
  try {
    const kept = readFileSync(entry, 'utf8')
    return kept.startsWith(`${key}\n`) ? kept.slice(key.length + 1) : undefined
  } catch {
    // There is none, or none that may be read.
    return undefined
  }
}

/** Several processes may begin at once: each writes a file of its own, and the last one stays. */
function keep(entry: string, text: string): void {
  const own = `${entry}.${process.pid}`
  try {
    mkdirSync(dirname(entry), { recursive: true })
    writeFileSync(own, text)
    renameSync(own, entry)
  } catch {
    // Nothing is lost but time: the next process strips the file again. What was written of a full disk goes.
    try {
      rmSync(own, { force: true })
    } catch {
      // A folder that nobody may write to has nothing of ours either.
    }
  }
}
