/**
 * The peers of other languages, each compiled where its compiler is found. A program is kept under a hash of its sources,
 * so that it is compiled once: the first time takes minutes, after that neither the compiler nor a minute is needed.
 */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, copyFile, mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/webloom-peers')
const BUILD_MS_MAX = 3600_000

export interface CompiledPeer {
  /** The command that a task's file is given to. */
  readonly program: string
  /** Its name and version. */
  readonly version: string
}

/** By the folder of its source, which is beside this file. */
export type CompiledPeers = ReadonlyMap<string, CompiledPeer>

interface Recipe {
  readonly compiler: readonly [command: string, ...versionArgs: string[]]
  readonly build: readonly string[]
  /** What the build leaves. */
  readonly built: string
  /** Where the peer's version is written, and how. */
  readonly versionIn: readonly [file: string, pattern: RegExp]
}

const RECIPES: Readonly<Record<string, Recipe>> = {
  colly: {
    compiler: ['go', 'version'],
    build: ['build', '-o', join(FOLDER, 'colly'), '.'],
    built: join(FOLDER, 'colly'),
    versionIn: ['go.mod', /gocolly\/colly\/v2 v(\S+)/],
  },
  spider: {
    compiler: ['cargo', '--version'],
    // One job: a build beside something else that is measured should not take the whole machine.
    build: ['build', '--release', '--locked', '--jobs', '1', '--target-dir', join(FOLDER, 'spider-target')],
    built: join(FOLDER, 'spider-target', 'release', 'spider-pages'),
    versionIn: ['Cargo.lock', /name = "spider"\nversion = "(.+?)"/],
  },
}

/** Their folders. */
export const COMPILED_PEERS: readonly string[] = Object.keys(RECIPES)

/** A peer without its compiler is left out, with a line that says so. One that does not compile throws. */
export async function compilePeers(wanted: Iterable<string>): Promise<CompiledPeers> {
  await mkdir(FOLDER, { recursive: true })
  const peers = new Map<string, CompiledPeer>()
  for (const name of new Set(wanted)) {
    const recipe = RECIPES[name]!
    const program = await programOf(name)
    if (!(await isThere(program))) {
      if (!(await isInstalled(recipe.compiler))) {
        console.error(`${name} is left out: there is no ${recipe.compiler[0]} here to compile it`)
        continue
      }
      await compile(name, recipe, program)
    }
    peers.set(name, { program, version: await versionOf(name, recipe) })
  }
  return peers
}

/** Named by its sources: what was compiled from others is not taken for it. */
async function programOf(name: string): Promise<string> {
  const entries = await readdir(join(import.meta.dirname, name), { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((file) => join(file.parentPath, file.name))
  const hash = createHash('sha256')
  for (const path of paths.sort()) hash.update(await readFile(path)).update('\0')
  return join(FOLDER, `${name}-${hash.digest('hex').slice(0, 16)}`)
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

async function isInstalled([command, ...args]: Recipe['compiler']): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  )
}

async function compile(name: string, { compiler, build, built }: Recipe, program: string): Promise<void> {
  console.error(`compiling ${name} in ${FOLDER}`)
  await run(compiler[0], build, {
    cwd: join(import.meta.dirname, name),
    timeout: BUILD_MS_MAX,
    maxBuffer: 2 ** 26,
  })
  // Whole or not there: a copy that was cut off must not be run later.
  await copyFile(built, `${program}.part`)
  await rename(`${program}.part`, program)
}

async function versionOf(name: string, { versionIn: [file, pattern] }: Recipe): Promise<string> {
  const text = await readFile(join(import.meta.dirname, name, file), 'utf8')
  return `${name}==${pattern.exec(text)![1]!}`
}
