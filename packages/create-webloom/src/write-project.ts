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
 * Writes the template into the folder, which is empty or not there. It replaces no file, and when it fails nothing of it is left
 * behind: while a template was chosen somebody may have put something there.
 *
 * Throws `UsageError` with the reason of the file system.
 */
export function writeProject(template: Template, target: TargetFolder, surroundings: Surroundings): void {
  const made: string[] = []
  try {
    for (const [name, content] of projectFiles(template, target, surroundings)) {
      const path = join(target.path, name)
      makeFolder(dirname(path), made)
      writeFileSync(path, content, { flag: 'wx' })
      made.push(path)
    }
  } catch (error) {
    for (const path of made.toReversed()) rmSync(path, { recursive: true, force: true })
    throw new UsageError(`${target.path} cannot be written: ${(error as Error).message}`)
  }
}

/** What is to be written, by its path in the project. */
function projectFiles(
  template: Template,
  target: TargetFolder,
  surroundings: Surroundings,
): Map<string, string | Buffer> {
  const { manager, node } = surroundings
  const bringsNode = isTooOld(node)
  const own = [filesOfManager(manager), bringsNode ? filesOfOwnNode(manager) : undefined]
  const files = new Map<string, string | Buffer>()
  for (const source of [SHARED_FILES, ...own, template.path])
    if (source !== undefined) readFolder(source, files)
  const edit = (name: string, edited: (text: string) => string) =>
    files.set(name, edited(String(files.get(name) ?? '')))
  edit('package.json', (text) => packageJson(text, target.packageName, surroundings))
  if (bringsNode) edit(join('.vscode', 'launch.json'), withOwnNode)
  return files
}

/** File by file: Yarn runs this from within a zip file, where `cpSync` finds nothing. */
function readFolder(folder: string, files: Map<string, string | Buffer>, within = ''): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const source = join(folder, entry.name)
    if (entry.isDirectory()) readFolder(source, files, join(within, entry.name))
    else files.set(join(within, writtenName(entry.name)), readFileSync(source))
  }
}

/** One by one: below a folder that takes none, as /proc, the recursive `mkdirSync` of Node 20 tries for ever. */
function makeFolder(path: string, made: string[]): void {
  if (existsSync(path)) return
  makeFolder(dirname(path), made)
  mkdirSync(path)
  made.push(path)
}

/** npm leaves .gitignore out of packages, and package managers take each other's settings for their own. */
function writtenName(name: string): string {
  return name.replace(/^_/, '.')
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
  // All that a template depends on is ours.
  const ours = Object.keys(dependencies).map((one) => [one, webloom])
  const written = {
    ...rest,
    name,
    dependencies: Object.fromEntries(ours),
    devDependencies: { ...devDependencies, ...(own && { node: OWN_NODE }) },
    allowScripts: { ...allowScripts, ...(own && { node: true }) },
  }
  return `${JSON.stringify(written, null, 2)}\n`
}
