import { type Dirent, readdirSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { UsageError } from './usage-error.ts'

/** Where the project goes, and what its package is called. */
export interface TargetFolder {
  readonly path: string
  readonly packageName: string
}

// By npm's rules for new packages (validate-npm-package-name).
const NAME_LENGTH_MAX = 214
const NAME = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9_-])?$/

/** What Windows has for devices: a file of that name, whatever stands behind a stop, cannot be made there. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/

/** What a package that depends on Webloom cannot be called: npm refuses to install a package into itself. */
const TAKEN = ['webloom', 'typescript', 'node', 'node_modules', 'favicon.ico']

/** Throws `UsageError` for a folder whose name no package can have, and for one that has something in it. */
export function targetFolder(written: string, cwd: string): TargetFolder {
  if (written.trim() === '') throw new UsageError('the name is empty; expected one such as my-crawler')
  const path = resolve(cwd, written)
  const packageName = basename(path)
  const problem = nameProblem(packageName)
  if (problem !== undefined) {
    const better = suggestion(packageName)
    throw new UsageError(
      `${JSON.stringify(packageName)} cannot be the project's name: ${problem}.${better ? ` Try ${better}` : ' Try my-crawler'}`,
    )
  }
  const found = entriesOf(path, written)
  if (found.length > 0) {
    const others = found.length > 1 ? ` and ${found.length - 1} more` : ''
    throw new UsageError(
      `the folder ${written} is not empty: it has ${found[0]}${others}. Choose another name, or an empty folder`,
    )
  }
  return { path, packageName }
}

function nameProblem(name: string): string | undefined {
  if (name.length > NAME_LENGTH_MAX)
    return `it has ${name.length} characters, and ${NAME_LENGTH_MAX} are the most`
  if (TAKEN.includes(name)) return 'a package that it needs has that name'
  if (!NAME.test(name))
    return 'small letters, digits, - _ and . only, a letter or digit at the beginning, and no stop at the end'
  if (DEVICE.test(name)) return 'on Windows it is a device'
  return undefined
}

/** The same name as a package may have it; empty when nothing is left of it. */
function suggestion(name: string): string {
  const fitting = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, NAME_LENGTH_MAX)
    .replace(/[-.]+$/, '')
  return TAKEN.includes(fitting) || DEVICE.test(fitting) ? `my-${fitting}` : fitting
}

/** What is in the folder, but for a repository that was made for the project. Nothing when there is no such folder. */
function entriesOf(path: string, written: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry: Dirent) => entry.name !== '.git')
      .map(({ name }) => name)
      .sort()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    if (code === 'ENOTDIR') throw new UsageError(`${written} is a file, or within one; expected a folder`)
    throw new UsageError(`the folder ${written} cannot be read: ${message}`)
  }
}
