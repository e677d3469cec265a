import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isTooOld, OWN_NODE } from './node-version.ts'
import type { PackageManager } from './package-manager.ts'
import type { TargetFolder } from './target-folder.ts'
import { filesOfManager, filesOfOwnNode, SHARED_FILES, type Template } from './templates.ts'
import { UsageError } from './usage-error.ts'

/** What a project has of where it was made. */
export interface Surroundings {
  /** The version of Webloom, which is ours, too. */
  readonly webloom: string
  /** The version of the Node that runs. */
  readonly node: string
  readonly manager: PackageManager
}

/**
 * Writes the template into the folder, which is empty or not there. When that fails, nothing of it is left behind.
 *
 * Throws `UsageError` with the reason of the file system.
 */
export function writeProject(template: Template, target: TargetFolder, surroundings: Surroundings): void {
  const { manager, node } = surroundings
  const bringsNode = isTooOld(node)
  const made = firstMissing(target.path)
  try {
    makeFolder(target.path)
    const own = [filesOfManager(manager), bringsNode ? filesOfOwnNode(manager) : undefined]
    for (const source of [SHARED_FILES, ...own, template.path])
      if (source !== undefined) copyFolder(source, target.path)
    const edit = (name: string, edited: (text: string) => string) => {
      const path = join(target.path, name)
      writeFileSync(path, edited(readFileSync(path, 'utf8')))
    }
    edit('package.json', (text) => packageJson(text, target.packageName, surroundings))
    if (bringsNode) edit('.vscode/launch.json', withOwnNode)
  } catch (error) {
    for (const path of made === undefined ? entriesOf(target.path) : [made])
      rmSync(path, { recursive: true, force: true })
    throw new UsageError(`${target.path} cannot be written: ${(error as Error).message}`)
  }
}

/** The topmost folder of the path that is not there; undefined when all are. */
function firstMissing(path: string): string | undefined {
  if (existsSync(path)) return undefined
  return firstMissing(dirname(path)) ?? path
}

/** One by one: below a folder that takes none, as /proc, the recursive `mkdirSync` of Node 20 tries for ever. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  mkdirSync(path)
}

/** File by file: Yarn runs this from within a zip file, where `cpSync` finds nothing. */
function copyFolder(from: string, to: string): void {
  makeFolder(to)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name)
    if (entry.isDirectory()) copyFolder(source, join(to, entry.name))
    else writeFileSync(join(to, writtenName(entry.name)), readFileSync(source))
  }
}

/** npm leaves .gitignore out of packages, and package managers take each other's settings for their own. */
function writtenName(name: string): string {
  return name.replace(/^_/, '.')
}

/** What stands in a folder that had nothing but a repository in it before. */
function entriesOf(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name !== '.git')
    .map((name) => join(folder, name))
}

/** An editor would debug by the Node of the machine, which is too old. */
function withOwnNode(launch: string): string {
  const line = `"runtimeExecutable": "\${workspaceFolder}/node_modules/node/bin/node",`
  return launch.replaceAll(/^( *)"request": "launch",$/gm, `$&\n$1${line.replaceAll('$', '$$$$')}`)
}

/** The template's package.json with the project's name and with versions that fit. */
function packageJson(text: string, name: string, { webloom, node }: Surroundings): string {
  const { description: _, dependencies, devDependencies, allowScripts, ...rest } = JSON.parse(text)
  // `node` puts its program into place by an install script.
  const own = isTooOld(node)
  const written = {
    ...rest,
    name,
    dependencies: { ...dependencies, webloom },
    devDependencies: { ...devDependencies, ...(own && { node: OWN_NODE }) },
    allowScripts: { ...allowScripts, ...(own && { node: true }) },
  }
  return `${JSON.stringify(written, null, 2)}\n`
}
