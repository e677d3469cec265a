/**
 * The peers of other languages, each compiled where its compiler is found. What is built is kept in a folder of the
 * system's temporary ones: the first build takes minutes, and later ones see that nothing has changed.
 */

import { execFile } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const FOLDER = join(tmpdir(), 'webloom-peers')
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
  readonly program: string
  /** Where the peer's version is written, and how. */
  readonly versionIn: readonly [file: string, pattern: RegExp]
}

const RECIPES: Readonly<Record<string, Recipe>> = {
  colly: {
    compiler: ['go', 'version'],
    build: ['build', '-o', join(FOLDER, 'colly-pages'), '.'],
    program: join(FOLDER, 'colly-pages'),
    versionIn: ['go.mod', /gocolly\/colly\/v2 v(\S+)/],
  },
  spider: {
    compiler: ['cargo', '--version'],
    // One job: a build beside something else that is measured should not take the whole machine.
    build: ['build', '--release', '--locked', '--jobs', '1', '--target-dir', join(FOLDER, 'spider')],
    program: join(FOLDER, 'spider', 'release', 'spider-pages'),
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
    if (await isInstalled(recipe.compiler)) peers.set(name, await compile(name, recipe))
    else console.error(`${name} is left out: there is no ${recipe.compiler[0]} here to compile it`)
  }
  return peers
}

async function isInstalled([command, ...args]: Recipe['compiler']): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  )
}

async function compile(name: string, { compiler, build, program, versionIn }: Recipe): Promise<CompiledPeer> {
  const source = join(import.meta.dirname, name)
  console.error(`compiling ${name} in ${FOLDER}`)
  await run(compiler[0], build, { cwd: source, timeout: BUILD_MS_MAX, maxBuffer: 2 ** 26 })
  const [file, pattern] = versionIn
  const version = pattern.exec(await readFile(join(source, file), 'utf8'))![1]!
  return { program, version: `${name}==${version}` }
}
