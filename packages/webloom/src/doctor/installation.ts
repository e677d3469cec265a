/** Node, the copies of webloom that a spider could meet, and what the system lets a process have. */

import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { shownPath } from '../loading/source-place.ts'
import { VERSION } from '../version.ts'
import type { CheckResult } from './check-result.ts'

/** The launcher has refused older ones. */
export function checkNode(): CheckResult {
  return { check: 'Node', state: 'ok', found: `${process.versions.node} (${process.execPath})` }
}

/** A spider that extends the `Spider` of another copy is refused, and two copies know nothing of each other's errors. */
export function checkCopies(folder: string): CheckResult {
  const copies = [...new Set(foldersAbove(folder).flatMap((above) => copiesIn(join(above, 'node_modules'))))]
  const found = `webloom ${VERSION}`
  if (copies.length < 2) return { check: 'webloom', state: 'ok', found }
  const shown = copies.map((copy) => `${versionIn(copy)} in ${shownPath(copy)}`).join(', ')
  return {
    check: 'webloom',
    state: 'fail',
    found: `${found}, and @webloom/core is here ${copies.length} times: ${shown}. A spider of one copy cannot be run by another`,
    type: 'npm dedupe && npm ls @webloom/core',
  }
}

function foldersAbove(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...foldersAbove(parent)]
}

/** Returns the copies of core in a node_modules: its own, and those within its packages. */
function copiesIn(modules: string): string[] {
  const homes = [modules, ...packagesIn(modules).map((one) => join(one, 'node_modules'))]
  return homes.flatMap((home) => {
    const copy = join(home, '@webloom/core')
    return existsSync(join(copy, 'package.json')) ? [realpathSync(copy)] : []
  })
}

function packagesIn(modules: string): string[] {
  return namesIn(modules).flatMap((name) =>
    name.startsWith('@')
      ? namesIn(join(modules, name)).map((inner) => join(modules, name, inner))
      : [join(modules, name)],
  )
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith('.'))
  } catch {
    return []
  }
}

function versionIn(home: string): string {
  return (JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string }).version
}

/** Beside the pages: connections to Redis, outputs, the cache, and Node’s own. */
const OTHER_FILES = 100

/** Each request in flight has a socket. */
export function checkOpenFiles(concurrentRequests: number): CheckResult {
  const limit = openFilesMax()
  const wanted = concurrentRequests + OTHER_FILES
  if (limit === undefined || limit >= wanted)
    return { check: 'open files', state: 'ok', found: `${limit ?? 'no limit is told'}` }
  return {
    check: 'open files',
    state: 'fail',
    found: `a process may have ${limit} open, and CONCURRENT_REQUESTS=${concurrentRequests} needs ${wanted}`,
    type: `ulimit -n ${Math.max(65_535, wanted)}`,
  }
}

/** Undefined where the system has no limit, or tells none. */
function openFilesMax(): number | undefined {
  // Node's types do not know it. A report would look up the names of all peers, for some seconds.
  const report = process.report as typeof process.report & { excludeNetwork: boolean }
  report.excludeNetwork = true
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } }
  const soft = Number(userLimits?.open_files?.soft)
  return Number.isFinite(soft) ? soft : undefined
}
